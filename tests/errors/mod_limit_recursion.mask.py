def f(b, h, q, k):
    return f(b, h, q, k)
