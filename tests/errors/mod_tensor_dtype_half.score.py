lambda score, b, h, q, k: score + torch.tensor(1, dtype=torch.half)
