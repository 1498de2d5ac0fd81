lambda b, h, q, k: not q >= k
