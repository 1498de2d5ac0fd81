lambda b, h, q, k: sum([1 for i in range(3) if q > i]) > 0
