lambda score, b, h, q, k: score.to(3)
