def mod(b, h, q, k):
    for i in range(Hq):
        pass
    return q >= k
