def f(a):
    return a

lambda b, h, q, k: f + q
