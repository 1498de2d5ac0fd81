"""An image cut into patches, each of which becomes a row."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, patch, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, kernel_size=patch, stride=patch)

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)


batch_size = 8
image = 112
patch = 16
width = 384


def get_inputs():
    return [torch.randn(batch_size, 3, image, image)]


def get_init_inputs():
    return [patch, width]
