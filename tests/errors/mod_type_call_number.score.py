lambda score, b, h, q, k: W(score)
