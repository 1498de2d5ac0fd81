lambda b, h, q, k: (1, 2)[q] > 1
