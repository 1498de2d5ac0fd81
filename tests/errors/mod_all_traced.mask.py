lambda b, h, q, k: all([q > 1, k > 1])
