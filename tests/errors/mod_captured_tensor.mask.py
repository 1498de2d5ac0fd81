def document(b, h, q_idx, kv_idx):
    return doc[q_idx] == doc[kv_idx]
