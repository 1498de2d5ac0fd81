def mod(b, h, q_idx, kv_idx):
    del q_idx
