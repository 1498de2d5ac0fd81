PREFIX = 4
N = 12
def tree_mask(b, h, q_idx, kv_idx):
    in_prefix = kv_idx < PREFIX
    in_tree = (kv_idx >= PREFIX) & (kv_idx < PREFIX + N)
    node = torch.clamp(kv_idx - PREFIX, 0, N - 1)
    return in_prefix | (in_tree & ancestors[q_idx, node])
