"""A dilated convolution over time with a gate, as models of sound have it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.filter = nn.Conv1d(channels, channels, kernel_size=3, dilation=4, padding=4)
        self.gate = nn.Conv1d(channels, channels, kernel_size=3, dilation=4, padding=4)

    def forward(self, x):
        return torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))


batch_size = 8
channels = 64
time = 2048


def get_inputs():
    return [torch.randn(batch_size, channels, time)]


def get_init_inputs():
    return [channels]
