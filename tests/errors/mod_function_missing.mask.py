def f(a, *, c):
    return a

lambda b, h, q, k: f(1) > q
