lambda b, h, q, k: q in (1, 2)
