lambda b, h, q, k: q.abs > 3
