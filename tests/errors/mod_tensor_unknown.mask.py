def document(b, h, q_idx, kv_idx):
    return document_id[q_idx] == document_id[kv_idx]
