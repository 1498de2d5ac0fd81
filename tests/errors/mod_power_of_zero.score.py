lambda score, b, h, q, k: score + 0.0 ** -1
