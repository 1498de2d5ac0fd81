"""A convolution of volumes and the largest value of each block."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv3d(channels, 2 * channels, kernel_size=3, padding=1)
        self.pool = nn.MaxPool3d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x)))


batch_size = 2
channels = 8
depth = 16
height = 32
width = 32


def get_inputs():
    return [torch.randn(batch_size, channels, depth, height, width)]


def get_init_inputs():
    return [channels]
