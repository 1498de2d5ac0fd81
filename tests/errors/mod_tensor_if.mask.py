def mod(b, h, q, k):
    if flags:
        pass
    return q >= k
