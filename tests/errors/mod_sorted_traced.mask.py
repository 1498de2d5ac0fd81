lambda b, h, q, k: sorted((q, k))[0] > 1
