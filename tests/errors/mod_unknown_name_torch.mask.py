lambda b, h, q, k: where(q > k, q, k) > 3
