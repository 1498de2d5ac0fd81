lambda score, b, h, q, k: (torch.where).x(score)
