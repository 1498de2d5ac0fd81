"""A convolution whose channels become a larger image."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, factor):
        super().__init__()
        self.conv = nn.Conv2d(channels, 3 * factor * factor, kernel_size=3, padding=1)
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        return self.shuffle(self.conv(x))


batch_size = 4
channels = 32
height = 32
width = 32
factor = 2


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [channels, factor]
