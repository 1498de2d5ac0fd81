def mod(b, h, q_idx, kv_idx):
    assert q_idx > 3
    return q_idx >= kv_idx
