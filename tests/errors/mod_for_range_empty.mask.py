def mod(b, h, q, k):
    for i in range():
        pass
    return q >= k
