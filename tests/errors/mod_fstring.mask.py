lambda b, h, q, k: f"{q}" == k
