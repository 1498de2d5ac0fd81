from functools import reduce
def same(ids):
    return lambda b, h, q_idx, kv_idx: ids[q_idx] == ids[kv_idx]
masks = [same(ids) for ids in [document_id, offsets]] + [lambda b, h, q, k: q >= k]
def mask(b, h, q_idx, kv_idx):
    results = [m(b, h, q_idx, kv_idx) for n, m in enumerate(masks) if n != 1]
    return reduce(lambda x, y: x & y, results)
