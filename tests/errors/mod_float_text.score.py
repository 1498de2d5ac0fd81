lambda score, b, h, q, k: score + float("three")
