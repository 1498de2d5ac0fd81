lambda b, h, q, k: q >= in
