def f(b, h, q, k):
