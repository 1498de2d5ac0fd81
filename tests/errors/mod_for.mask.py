def mod(b, h, q_idx, kv_idx):
    for i in range(4):
        x = i
    return q_idx >= kv_idx
