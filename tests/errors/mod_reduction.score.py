lambda score, b, h, q, k: score + torch.sum(k)
