"""How a token is divided among experts: a softmax of scores, scaled by the largest."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.scores = nn.Linear(width, experts, bias=False)

    def forward(self, x):
        weights = torch.softmax(self.scores(x), dim=-1)
        return weights / torch.amax(weights, dim=-1, keepdim=True)


tokens = 2048
width = 512
experts = 64


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, experts]
