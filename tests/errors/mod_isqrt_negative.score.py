lambda score, b, h, q, k: score + math.isqrt(-1)
