lambda score, b, h, q, k: score + min(1, 2, key=3)
