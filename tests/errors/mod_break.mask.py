def mod(b, h, q, k):
    for i in range(3):
        break
    return q >= k
