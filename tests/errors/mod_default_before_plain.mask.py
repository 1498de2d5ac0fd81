lambda b, h=1, q, k: q >= k
