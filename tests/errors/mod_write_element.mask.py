def mod(b, h, q_idx, kv_idx):
    q_idx[0] = 3
    return q_idx >= kv_idx
