lambda score, b, h, q, k: score + torch.zeros(4)
