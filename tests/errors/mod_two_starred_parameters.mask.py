lambda b, h, q, k, *x, *y: q >= k
