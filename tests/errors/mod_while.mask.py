def mod(b, h, q_idx, kv_idx):
    while True:
        pass
