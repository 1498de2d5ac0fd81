def mod(b, h, q, k):
    for i in range(q):
        pass
    return q >= k
