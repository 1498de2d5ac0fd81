lambda score, b, h, q, k: score + math.log(8, 1)
