lambda b, h, q, k: q.(1)
