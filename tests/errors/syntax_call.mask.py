lambda b, h, q, k: abs(q k)
