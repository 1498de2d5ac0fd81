def mod(b, h, q, k):
    for i, j range(3):
        pass
    return q >= k
