def mod(b, h, q, k):
    for i in range(2.0):
        pass
    return q >= k
