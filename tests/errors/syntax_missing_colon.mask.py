def mod(b, h, q, k)
    return q >= k
