"""A bottleneck block of a residual network, with a projection where the shapes differ.

It is here for helper functions and classes of the same file, batch norm in both modes, activations in place, and a branch
that is decided while the module is constructed.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv3x3(in_channels, out_channels, stride=1):
    return nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)


class ConvNorm(nn.Module):
    def __init__(self, conv, channels):
        super().__init__()
        self.conv = conv
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.norm(self.conv(x))


class Model(nn.Module):
    expansion = 2

    def __init__(self, in_channels, channels, stride=2):
        super(Model, self).__init__()
        out_channels = channels * self.expansion
        self.reduce = ConvNorm(nn.Conv2d(in_channels, channels, 1, bias=False), channels)
        self.spatial = ConvNorm(conv3x3(channels, channels, stride), channels)
        self.expand = ConvNorm(nn.Conv2d(channels, out_channels, 1, bias=False), out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            self.shortcut = ConvNorm(nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False), out_channels)

    def forward(self, x):
        out = self.relu(self.reduce(x))
        out = self.relu(self.spatial(out))
        out = self.expand(out)
        out += self.shortcut(x)
        return F.relu(out, inplace=True)


batch_size, in_channels, height, width = 8, 64, 56, 56
channels = 32


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, channels]
