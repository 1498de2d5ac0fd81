lambda score, b, h, q, k: score + "3"
