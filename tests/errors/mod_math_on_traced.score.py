lambda score, b, h, q, k: math.exp(score)
