lambda score, b, h, q, k: score + score[0]
