lambda b, h, q, k: min(q, 3) > k
