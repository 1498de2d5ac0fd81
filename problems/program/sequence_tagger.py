"""A tag for each step of a sequence, from what an LSTM knows of the steps before and behind it.

It is here for nn.LSTM, whose steps follow one another, in both directions.
"""
import torch
import torch.nn as nn

batch_size = 16
seq_len = 6
input_size = 32
hidden_size = 48
tags = 12


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, tags):
        super().__init__()
        self.rnn = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * hidden_size, tags)

    def forward(self, x):
        steps, _ = self.rnn(x)
        return torch.log_softmax(self.tag(steps), dim=-1)


def get_inputs():
    return [torch.randn(batch_size, seq_len, input_size)]


def get_init_inputs():
    return [input_size, hidden_size, tags]
