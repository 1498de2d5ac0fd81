lambda b, h, q, k: q_idx >= k
