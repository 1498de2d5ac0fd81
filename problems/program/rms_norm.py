"""A root-mean-square norm as language models write it out."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = 1e-6

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return x * scale * self.weight


batch_size = 4
sequence = 1024
width = 2048


def get_inputs():
    return [torch.randn(batch_size, sequence, width)]


def get_init_inputs():
    return [width]
