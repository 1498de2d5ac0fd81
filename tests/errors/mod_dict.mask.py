lambda b, h, q, k: {1: q}[1] > k
