def make(w):
    assert w < 5, "w is too large"
    return lambda b, h, q, k: q >= k
make(6)
