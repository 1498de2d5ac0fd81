lambda b, h, q, k, w=3: q - k <= w
