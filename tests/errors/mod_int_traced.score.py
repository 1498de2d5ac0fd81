lambda score, b, h, q, k: score + int(q)
