lambda b, h, q, k: (k < W) | ((q >= k) & (abs(q - k) <= W))
