lambda b, h, q, k: flags[None]
