lambda b, h, q, k: q.item() >= k
