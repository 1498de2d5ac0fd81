def mod(b, h, q, k):
    *x, *y = (1, 2)
    return q >= k
