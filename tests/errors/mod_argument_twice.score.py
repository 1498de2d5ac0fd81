lambda score, b, h, q, k: torch.clamp(score, 1, min=2)
