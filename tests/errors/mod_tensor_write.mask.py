def mod(b, h, q, k):
    flags[0] = True
    return q >= k
