lambda score, b, h, q, k: torch.tanhh(score)
