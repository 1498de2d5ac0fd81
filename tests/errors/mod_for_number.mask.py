def mod(b, h, q, k):
    for i in 3:
        pass
    return q >= k
