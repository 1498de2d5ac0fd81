lambda b, h, q, q: q > 3
