lambda score, b, h, q, k: torch.tanh(score, k)
