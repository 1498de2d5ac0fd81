lambda b, h, q, k: q >= k or k > 3
