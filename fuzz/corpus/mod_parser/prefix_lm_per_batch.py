import torch
from torch.nn.attention.flex_attention import _mask_mod_signature, _score_mod_signature

def and_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """Returns a mask_mod that is the intersection of the given ones."""
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError(f"all inputs should be callable mask_mods: {mask_mods}")

    def and_mask(b, h, q_idx, kv_idx):
        result = b.new_ones((), dtype=torch.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx).to(result.device)
        return result

    return and_mask

def or_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError("all inputs should be callable")
    def or_mask(b, h, q_idx, kv_idx):
        result = b.new_zeros((), dtype=torch.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result
    return or_mask

def causal_mask(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx

def generate_prefix_lm_mask(prefix_length) -> _mask_mod_signature:
    def prefix_mask(b, h, q_idx, kv_idx):
        return kv_idx < prefix_length[b]
    return or_masks(prefix_mask, causal_mask)

generate_prefix_lm_mask(prefix_length)
