lambda b, h, q, k: len((1, 2)[::2]) > 1
