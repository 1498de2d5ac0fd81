lambda b, h, q, k: zip((1,), other=True) > q
