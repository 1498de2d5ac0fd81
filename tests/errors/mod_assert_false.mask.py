def mod(b, h, q, k):
    assert W < 0
    return q >= k
