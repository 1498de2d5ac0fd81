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

def generate_sliding_window(window_size: int) -> _mask_mod_signature:
    def sliding_window(b, h, q_idx, kv_idx):
        return q_idx - kv_idx <= window_size
    sliding_window_mask = and_masks(sliding_window, causal_mask)
    sliding_window_mask.__name__ = f"sliding_window_{window_size}"
    return sliding_window_mask

mask = generate_sliding_window(7)
