def mod(b, h, q, k):
    x, *y, z = (1,)
    return q >= k
