lambda score, b, h, q, k: torch.where(q, score, 0)
