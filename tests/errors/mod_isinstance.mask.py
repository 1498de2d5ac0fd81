lambda b, h, q, k: isinstance(q, int)
