lambda b, h, q, k: (x := q) >= k
