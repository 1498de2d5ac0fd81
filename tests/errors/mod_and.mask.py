lambda b, h, q, k: q >= k and k > 3
