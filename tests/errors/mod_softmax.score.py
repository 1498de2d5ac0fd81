lambda score, b, h, q, k: torch.softmax(score, dim=-1)
