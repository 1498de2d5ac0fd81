def mod(b, h, q, k):
    x, y += 1
    return q >= k
