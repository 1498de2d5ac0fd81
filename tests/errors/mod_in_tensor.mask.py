lambda b, h, q, k: 3 in flags
