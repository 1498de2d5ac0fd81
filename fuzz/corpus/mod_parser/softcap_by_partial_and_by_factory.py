from functools import partial
def softcap(score, b, h, q_idx, kv_idx, *, soft_cap: float, approx: bool = False):
    tanh = torch.ops.approx.tanh if approx else torch.tanh
    score = score / soft_cap
    score = tanh(score)
    return score * soft_cap
mod = partial(softcap, soft_cap=50)
