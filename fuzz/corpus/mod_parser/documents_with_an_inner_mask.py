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

def generate_doc_mask_mod(mask_mod, offsets, document_id):
    def doc_mask_mod(b, h, q_idx, kv_idx):
        same_doc = document_id[q_idx] == document_id[kv_idx]
        q_logical = q_idx - offsets[document_id[q_idx]]
        kv_logical = kv_idx - offsets[document_id[kv_idx]]
        inner_mask = mask_mod(b, h, q_logical, kv_logical)
        return same_doc & inner_mask
    return doc_mask_mod

generate_doc_mask_mod(causal_mask, offsets, document_id)
