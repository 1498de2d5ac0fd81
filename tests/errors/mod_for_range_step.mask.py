def mod(b, h, q, k):
    for i in range(0, 5, 0):
        pass
    return q >= k
