lambda b, h, q, k: len(W) > q
