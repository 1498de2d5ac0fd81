def mod(b, h, q_idx, kv_idx):
    yield q_idx
