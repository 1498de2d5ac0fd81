def mod(b, h, q_idx, kv_idx):
    with torch.no_grad():
        return q_idx >= kv_idx
