lambda b, h, q, k: 0 <= q - k < W
