def mod(b, h, q, k):
        x = q
    return x >= k
