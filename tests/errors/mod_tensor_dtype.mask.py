lambda b, h, q, k: ids.to(torch.float16)[b, k] > 0
