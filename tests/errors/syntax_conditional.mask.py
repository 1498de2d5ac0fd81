lambda b, h, q, k: q if W
