lambda b, h, q, k: q > 12ab
