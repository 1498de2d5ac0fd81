def f(b, h, q, k):
    for 3 in (1, 2):
        pass
