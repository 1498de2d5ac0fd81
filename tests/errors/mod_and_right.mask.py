lambda b, h, q, k: True and q >= k
