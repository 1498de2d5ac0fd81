lambda score, b, h, q, k: score + q ** k
