lambda score, b, h, q, k: score + math.floor(math.inf)
