def mod(b, h, q, k):
    type T = int
    return q >= k
