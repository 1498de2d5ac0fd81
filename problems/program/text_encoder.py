"""Sentences as vectors: an encoder of transformer layers over embedded words, and the mean over the words.

It is here for nn.TransformerEncoder, whose layers are copies of one, for positions that are assigned to parts of a
buffer, and for kernels that layers share.
"""
import math
import torch
import torch.nn as nn

batch_size = 8
seq_len = 48
words = 1000
features = 64
heads = 4


class Positions(nn.Module):
    def __init__(self, features, longest):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, features, 2) * (-math.log(10000.0) / features))
        table = torch.zeros(longest, features)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class Model(nn.Module):
    def __init__(self, words, features, heads, longest):
        super().__init__()
        self.embedding = nn.Embedding(words, features)
        self.positions = Positions(features, longest)
        layer = nn.TransformerEncoderLayer(features, heads, 4 * features, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(features))

    def forward(self, ids):
        x = self.positions(self.embedding(ids))
        return self.encoder(x).mean(dim=1)


def get_inputs():
    return [torch.randint(0, words, (batch_size, seq_len))]


def get_init_inputs():
    return [words, features, heads, seq_len]
