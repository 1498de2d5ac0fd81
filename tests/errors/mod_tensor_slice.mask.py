lambda b, h, q, k: ids[:, 1:][b, k] > 0
