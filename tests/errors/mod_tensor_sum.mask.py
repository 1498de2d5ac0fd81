lambda b, h, q, k: flags.sum() > q
