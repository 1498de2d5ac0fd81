and_masks(lambda b, h, q, k: q >= k, 3)
