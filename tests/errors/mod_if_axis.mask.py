def mod(b, h, q_idx, kv_idx):
    if Sq > 4:
        return kv_idx > 3
    return q_idx >= kv_idx
