lambda b, h, q, k: len((1, 2)[q:]) > 1
