def alibi(score, b, h, q_idx, kv_idx):
    return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx)
