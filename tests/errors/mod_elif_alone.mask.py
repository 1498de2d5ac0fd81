def mod(b, h, q, k):
    elif q: pass
    return q >= k
