lambda b, h, q, k: any(q > i for i in range(3))
