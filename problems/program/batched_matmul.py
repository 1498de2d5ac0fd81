"""Products of two batches of matrices, the second one transposed."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b.transpose(1, 2))


batch_size = 32
M = 256
N = 256
K = 64


def get_inputs():
    return [torch.randn(batch_size, M, K), torch.randn(batch_size, N, K)]


def get_init_inputs():
    return []
