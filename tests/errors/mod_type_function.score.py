lambda score, b, h, q, k: score + torch.tanh
