lambda score, b, h, q, k: score.to(torch.float64)
