def mod(b, h, q, k):
    for i in flags:
        pass
    return q >= k
