lambda score, b, h, q, k: np.exp(score)
