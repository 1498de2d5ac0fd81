lambda score, b, h, q, k: score + min(3)
