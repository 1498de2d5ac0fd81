lambda b, h, q, k: (q, k) == (1, 2)
