def mod(b, h, q, k):
    x = q
    for i in range(9000):
        x = (x + i) * (q - i)
    return q >= k
