lambda b, h, q, k: reduce(lambda a, c: a, [q]) > k
