lambda score, b, h, q, k: -(q > k)
