lambda b, h, q, k: W[0] > q
