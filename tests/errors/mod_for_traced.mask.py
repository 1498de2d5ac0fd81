def mod(b, h, q, k):
    for i in q:
        pass
    return q >= k
