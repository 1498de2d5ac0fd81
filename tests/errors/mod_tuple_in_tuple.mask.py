lambda b, h, q, k: ((q, k), h)[1] > 3
