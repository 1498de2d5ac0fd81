# A file as people have it: imports, a class, tensors made by code, factories and a training loop around the mods.
# kernelwright reads what the wanted function reaches and nothing else; it never runs any of it.
from functools import partial

import torch
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention

try:
    from my_project.kernels import fast_path
except ImportError:
    fast_path = None

WINDOW = 64


class Block(torch.nn.Module):
    def __init__(self, heads: int = 8):
        super().__init__()
        self.mask = create_block_mask(causal, B=None, H=None, Q_LEN=1024, KV_LEN=1024)

    def forward(self, q, k, v):
        return flex_attention(q, k, v, block_mask=self.mask)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def generate_sliding_window(window_size: int):
    """A mask that sees the last `window_size` tokens."""

    def sliding_window(b, h, q_idx, kv_idx):
        return q_idx - kv_idx <= window_size

    sliding_window.__name__ = f"sliding_window_{window_size}"
    return and_masks(sliding_window, causal)


window_mask = generate_sliding_window(WINDOW)


def capped(score, b, h, q_idx, kv_idx, cap=30.0):
    return cap * torch.tanh(score / cap)


tight = partial(capped, cap=5.0)


@torch.compile
def needs_a_tensor(score, b, h, q_idx, kv_idx):
    return score + slopes[h] * (kv_idx - q_idx)


if __name__ == "__main__":
    with torch.no_grad():
        for step in range(3):
            print(step, window_mask)
