lambda b, h, q, k: q not in (1, 2)
