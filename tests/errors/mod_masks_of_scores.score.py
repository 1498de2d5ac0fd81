or_masks(lambda b, h, q, k: q >= k)
