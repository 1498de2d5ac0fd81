def mod(b, h, q, k):
    x = (1, 2).index(1)
    return q >= k
