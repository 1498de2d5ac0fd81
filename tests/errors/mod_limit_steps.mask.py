def mod(b, h, q, k):
    for i in range(9000):
        for j in range(9000):
            pass
    return q >= k
