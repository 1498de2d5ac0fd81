import torch
import torch.nn as nn
from einops import rearrange, repeat
import einops

class Model(nn.Module):
    def forward(self, x):
        y = rearrange(x, "b (h d) n -> b h n d", h=4)
        z = repeat(y[:, 0, 0, :], "b d -> b k d", k=3)
        return y * 2, einops.reduce(x, 'b ... -> b', 'mean') + z.sum()

def get_inputs(): return [torch.randn(2, 64, 8)]
