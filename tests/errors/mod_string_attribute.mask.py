def mod(b, h, q, k):
    x = "a".upper()
    return q >= k
