def mod(b, h, q, k):
    for i in (1, 2):
        pass
    else:
        pass
    return q >= k
