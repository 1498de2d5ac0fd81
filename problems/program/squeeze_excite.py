"""Channels weighted by what two small layers make of their means."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.reduce = nn.Linear(channels, reduced)
        self.expand = nn.Linear(reduced, channels)

    def forward(self, x):
        means = x.mean(dim=(2, 3))
        weights = torch.sigmoid(self.expand(torch.relu(self.reduce(means))))
        return x * weights.unsqueeze(-1).unsqueeze(-1)


batch_size = 8
channels = 128
reduced = 16
height = 28
width = 28


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [channels, reduced]
