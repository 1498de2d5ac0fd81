lambda score, b, h, q, k: tanhh(score)
