"""A masked running sum over time, from the end."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, rewards, alive):
        return torch.flip(torch.cumsum(torch.flip(rewards * alive, dims=[1]), dim=1), dims=[1])


batch_size = 256
time = 1024


def get_inputs():
    return [torch.randn(batch_size, time), torch.rand(batch_size, time)]


def get_init_inputs():
    return []
