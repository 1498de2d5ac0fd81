"""An LSTM written out over a few steps.

It is here for a loop over an axis whose extent is known, state that is a tuple, and several results.
"""
import torch
import torch.nn as nn

batch_size = 16
seq_len = 4
input_size = 32
hidden_size = 64


class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.x2h = nn.Linear(input_size, 4 * hidden_size)
        self.h2h = nn.Linear(hidden_size, 4 * hidden_size, bias=False)
        nn.init.zeros_(self.x2h.bias)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.cell = LSTMCell(input_size, hidden_size)

    def forward(self, x):
        h = torch.zeros(x.size(0), self.hidden_size, dtype=x.dtype, device=x.device)
        state = (h, torch.zeros_like(h))
        outputs = []
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1), state


def get_inputs():
    return [torch.rand(batch_size, seq_len, input_size) * 2 - 1]


def get_init_inputs():
    return {"input_size": input_size, "hidden_size": hidden_size}
