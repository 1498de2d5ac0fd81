lambda b, h, q, k: q is k
