lambda score, b, h, q, k: score + q // 0
