lambda score, b, h, q, k: score + 99999999999999999999
