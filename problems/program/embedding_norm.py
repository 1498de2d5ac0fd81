"""Rows of a table by index, and a norm of them: the first layer of a language model."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        return self.norm(self.table(tokens))


batch_size = 8
sequence = 512
vocabulary = 5000
width = 768


def get_inputs():
    return [torch.randint(0, vocabulary, (batch_size, sequence))]


def get_init_inputs():
    return [vocabulary, width]
