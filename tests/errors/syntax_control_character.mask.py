lambda b, h, q, k: q  k
