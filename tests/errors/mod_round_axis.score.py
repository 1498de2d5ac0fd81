lambda score, b, h, q, k: score + round(Hq)
