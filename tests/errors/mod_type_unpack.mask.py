def mod(b, h, q, k):
    x, y = q
    return x > y
