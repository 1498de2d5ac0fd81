lambda b, h, q, k: [x for x in (1, 2) 3]
