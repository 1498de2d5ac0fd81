lambda score, b, h, q, k: torch.where(q > k, score)
