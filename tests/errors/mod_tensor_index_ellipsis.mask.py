lambda b, h, q, k: ids[..., k] > 0
