lambda b, h, q, k: flags.any()
