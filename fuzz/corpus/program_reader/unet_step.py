"""One step down and up again of a U-Net, with a time embedding as diffusion models have it.

It is here for a transposed convolution next to a strided one, group norm, concatenation with what was kept, nn.ModuleList
and nn.ModuleDict, broadcasting over pixels, and dropout, which makes the training mode random.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
channels = 32
size = 32
time_dim = 64


class ConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels, time_dim=None, groups=8, dropout=0.1):
        super().__init__()
        self.norm = nn.GroupNorm(groups, in_channels)
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding="same")
        self.time = nn.Linear(time_dim, out_channels) if time_dim is not None else None
        self.dropout = nn.Dropout2d(dropout)

    def forward(self, x, t=None):
        h = self.conv(F.silu(self.norm(x)))
        if self.time is not None and t is not None:
            h = h + self.time(F.silu(t))[:, :, None, None]
        return self.dropout(h)


class Model(nn.Module):
    def __init__(self, channels, time_dim):
        super().__init__()
        self.half = time_dim // 2
        self.down = nn.ModuleList([ConvBlock(channels, channels, time_dim), ConvBlock(channels, 2 * channels)])
        self.resize = nn.ModuleDict({
            "pool": nn.Conv2d(2 * channels, 2 * channels, 2, stride=2),
            "grow": nn.ConvTranspose2d(2 * channels, channels, 4, stride=2, padding=1),
        })
        self.up = ConvBlock(3 * channels, channels, time_dim)

    def embed(self, steps):
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(self.half) / self.half)
        angles = steps[:, None].float() * frequencies[None]
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    def forward(self, x, steps):
        t = self.embed(steps)
        h = x
        for block in self.down:
            h = block(h, t)
        kept = h
        h = self.resize["grow"](self.resize["pool"](h))
        return self.up(torch.cat([h, kept], dim=1), t) + x


def get_inputs():
    return [torch.randn(batch_size, channels, size, size), torch.randint(0, 1000, (batch_size,))]


def get_init_inputs():
    return [channels, time_dim]
