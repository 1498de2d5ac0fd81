def f(a):
    return a

lambda b, h, q, k: f(1, a=2) > q
