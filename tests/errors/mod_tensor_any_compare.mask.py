lambda b, h, q, k: (ids[b] == k).any()
