lambda score, b, h, q, k: torch.where(torch.isnan(score), 0.0, score)
