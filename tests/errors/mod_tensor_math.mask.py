lambda b, h, q, k: min(flags, 3) > q
