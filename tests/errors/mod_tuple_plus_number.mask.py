lambda b, h, q, k: ((1, 2) + 3) > q
