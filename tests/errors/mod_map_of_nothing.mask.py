lambda b, h, q, k: map(abs) > q
