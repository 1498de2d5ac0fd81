def mod(b, h, q_idx, kv_idx):
    q_idx.x = 3
    return q_idx >= kv_idx
