def generate_tanh_softcap(soft_cap: int, approx: bool = False) -> _score_mod_signature:
    tanh = _tanh_approx if approx else torch.tanh
    def tanh_softcap(score, b, h, q_idx, kv_idx):
        return soft_cap * tanh(score / soft_cap)
    prefix = "tanh_softcap_approx" if approx else "tanh_softcap"
    tanh_softcap.__name__ = f"{prefix}_{soft_cap}"
    return tanh_softcap
generate_tanh_softcap(50)
