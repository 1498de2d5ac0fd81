lambda b, h, q, k: flags[[0, 1]]
