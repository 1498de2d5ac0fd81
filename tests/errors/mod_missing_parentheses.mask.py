lambda b, h, q, k: q >= k & q - k <= W
