lambda score, b, h, q, k: round(score)
