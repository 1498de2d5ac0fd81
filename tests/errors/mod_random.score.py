lambda score, b, h, q, k: score * (torch.rand(1) > 0.1)
