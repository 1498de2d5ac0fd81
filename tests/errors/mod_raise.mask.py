def mod(b, h, q_idx, kv_idx):
    raise E
