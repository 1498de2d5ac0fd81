def mod(b, h, q, k):
    x = (*q)
    return q >= k
