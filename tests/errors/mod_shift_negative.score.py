lambda score, b, h, q, k: score + (1 << -1)
