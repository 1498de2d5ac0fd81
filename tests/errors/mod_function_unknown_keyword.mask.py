def f(a):
    return a

lambda b, h, q, k: f(1, c=2) > q
