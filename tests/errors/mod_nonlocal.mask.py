def mod(b, h, q, k):
    nonlocal W
    return q >= k
