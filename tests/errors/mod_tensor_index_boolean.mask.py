lambda b, h, q, k: flags[q > k]
