"""A linear layer with a low-rank correction beside it, as fine-tuning adds it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, out_features, rank):
        super().__init__()
        self.base = nn.Linear(in_features, out_features)
        self.down = nn.Linear(in_features, rank, bias=False)
        self.up = nn.Linear(rank, out_features, bias=False)

    def forward(self, x):
        return self.base(x) + 2.0 * self.up(self.down(x))


rows = 512
in_features = 1024
out_features = 1024
rank = 8


def get_inputs():
    return [torch.randn(rows, in_features)]


def get_init_inputs():
    return [in_features, out_features, rank]
