"""A multilayer perceptron: the first module anybody pastes.

It is here for nn.Sequential that is built in a loop, default arguments, and names of parameters with numbers in them.
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, hidden, out_features, depth=2, bias=True):
        super().__init__()
        layers = []
        width = in_features
        for _ in range(depth):
            layers += [nn.Linear(width, hidden, bias=bias), nn.GELU(approximate="tanh")]
            width = hidden
        layers.append(nn.Linear(width, out_features))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


batch_size = 32
in_features = 256
hidden = 512
out_features = 10


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, hidden, out_features]
