lambda score, b, h, q, k: score.to(torch.bfloat16)
