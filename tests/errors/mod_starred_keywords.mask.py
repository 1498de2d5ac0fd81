lambda b, h, q, k: max(**q)
