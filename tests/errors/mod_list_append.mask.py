def mod(b, h, q, k):
    x = []
    x.append(q)
    return q >= k
