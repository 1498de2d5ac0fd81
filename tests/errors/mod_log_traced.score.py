lambda score, b, h, q, k: score + math.log(score, 2)
