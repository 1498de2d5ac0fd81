def mod(b, h, q_idx, kv_idx):
    global x
    return q_idx >= kv_idx
