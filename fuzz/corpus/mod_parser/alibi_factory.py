def generate_alibi_bias(H: int) -> _score_mod_signature:
    def alibi_mod(score, b, h, q_idx, kv_idx):
        scale = torch.exp2(-((h + 1) * 8.0 / H))
        bias = (kv_idx - q_idx) * scale
        return score + bias
    return alibi_mod

generate_alibi_bias(4)
