def mod(b, h, q, k):
    t = 1
    for i in range(200):
        t = (t,)
    return q >= k
