def mod(b, h, q, k):
    x = 1
    x @= 2
    return q >= k
