lambda score, b, h, q, k: score + (k + 5000000000)
