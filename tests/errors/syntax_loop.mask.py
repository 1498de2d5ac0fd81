def f(b, h, q, k):
    for i in (1, 2) pass
