lambda score, b, h, q, k: score + table
