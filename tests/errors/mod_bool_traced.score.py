lambda score, b, h, q, k: score + bool(q > k)
