def mod(b, h, q_idx, kv_idx):
    try:
        return q_idx >= kv_idx
    except E:
        pass
