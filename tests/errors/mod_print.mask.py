def mod(b, h, q_idx, kv_idx):
    print(q_idx)
    return q_idx >= kv_idx
