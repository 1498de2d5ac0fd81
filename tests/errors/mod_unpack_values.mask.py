def mod(b, h, q, k):
    x, y = (1, 2, 3)
    return q >= k
