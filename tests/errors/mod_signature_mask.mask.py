lambda b, h, q: q > 1
