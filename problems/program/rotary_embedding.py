"""Rotary position embedding: halves of a head are rotated by angles that depend on the position."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.half = head_size // 2

    def forward(self, x, cosine, sine):
        left, right = x[..., : self.half], x[..., self.half :]
        rotated = torch.cat([-right, left], dim=-1)
        return x * cosine + rotated * sine


batch_size = 4
heads = 16
sequence = 512
head_size = 64


def get_inputs():
    return [
        torch.randn(batch_size, heads, sequence, head_size),
        torch.randn(sequence, head_size),
        torch.randn(sequence, head_size),
    ]


def get_init_inputs():
    return [head_size]
