def f(a, c=1):
    return a

lambda b, h, q, k: f(1, 2, 3) > q
