lambda b, h, q, k: [q, k][0] > 1
