lambda b, h, q, k: torch.clamp(q, min=3, 4) > k
