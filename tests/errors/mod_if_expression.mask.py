lambda b, h, q, k: k > 3 if q > 4 else q >= k
