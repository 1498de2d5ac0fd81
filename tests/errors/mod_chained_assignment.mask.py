def mod(b, h, q_idx, kv_idx):
    x = y = q_idx
    return x > 1
