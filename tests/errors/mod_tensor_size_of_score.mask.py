lambda b, h, q, k: q.size(0) > q
