#!/usr/bin/env python3
"""Masks.  def causal(b, h, q, k): return 'not this one'
"""
from __future__ import annotations
import math, os as operating_system
from typing import (
    Callable,  # a comment with ( in it
    Optional,
)
import torch
from torch.nn.attention.flex_attention import (and_masks, or_masks, create_block_mask)
from functools import partial

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = {"window": [1, 2,
3], "name": 'it\'s "fine"'}
SMALL, (LARGE, *_) = 2, (64, 3)
LIMIT: int = SMALL * LARGE; HALF = LIMIT // 2
COUNT = 1
COUNT = COUNT + 1
COUNT += 5
document_id = make_document_ids(device)
a.b = c[0] = 3

class Model(torch.nn.Module):
    """A class."""

    def forward(self, x):
        async with x as y:
            yield {"a": lambda: y}

    causal = None

@torch.compile(fullgraph=True)
@decorated
# between decorators
def causal(
    b, h, q_idx: torch.Tensor, kv_idx,
):
    # outside of the margin
# at the margin
    """Docs with 'quotes' and "more"."""
    return q_idx >= kv_idx

def document(b, h, q_idx, kv_idx):
    return document_id[q_idx] == document_id[kv_idx]

def generate_sliding_window(window_size: int, slack: float = 0):
    """Makes a mask."""
    if window_size < 0:
        raise ValueError(f"bad {window_size}")
    def sliding_window(b, h, q_idx, kv_idx):
        return (q_idx - kv_idx <= window_size + slack) & causal(b, h, q_idx, kv_idx)
    sliding_window.__name__ = f"window_{window_size}"
    return sliding_window

def softcap(score, b, h, q_idx, kv_idx, cap=30.0):
    return cap * torch.tanh(score / cap)

def mod(b, h, q, k):
    return q > k

def mod(b, h, q, k):
    return q < k + later

later = COUNT
bad_value = 1 / 0
def broken(b, h, q, k):
    return q >
try:
    import fast_attention
except ImportError:
    fast_attention = None
with torch.no_grad():
    inside = 3
if __name__ == "__main__":
    print(create_block_mask(causal, 1, 1, 8, 8))
    def hidden(b, h, q, k): return q > k
