def mod(b, h, q_idx, kv_idx):
    x = q_idx
