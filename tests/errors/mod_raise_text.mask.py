def make(w):
    if w > 5:
        raise ValueError("w is too large")
    return lambda b, h, q, k: q >= k
make(6)
