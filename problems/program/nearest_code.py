"""The nearest entry of a codebook for each row, as vector quantisation looks it up."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, entries, width):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(entries, width))

    def forward(self, x):
        distances = (self.codes * self.codes).sum(-1) - 2.0 * (x @ self.codes.t())
        return torch.argmin(distances, dim=-1)


rows = 1024
entries = 512
width = 64


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [entries, width]
