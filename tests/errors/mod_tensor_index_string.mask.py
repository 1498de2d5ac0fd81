lambda b, h, q, k: flags["a"]
