lambda score, b, h, q, k: torch.clamp(score)
