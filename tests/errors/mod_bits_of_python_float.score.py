lambda score, b, h, q, k: score + (2.0 & 1)
