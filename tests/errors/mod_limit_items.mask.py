lambda b, h, q, k: len(range(100000)) > q
