"""A gated recurrent cell written out."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.of_input = nn.Linear(inputs, 3 * hidden)
        self.of_state = nn.Linear(hidden, 3 * hidden)

    def forward(self, x, state):
        reset, update, new = self.of_input(x).chunk(3, dim=-1)
        state_reset, state_update, state_new = self.of_state(state).chunk(3, dim=-1)
        update = torch.sigmoid(update + state_update)
        new = torch.tanh(new + torch.sigmoid(reset + state_reset) * state_new)
        return (1 - update) * new + update * state


batch_size = 256
inputs = 256
hidden = 256


def get_inputs():
    return [torch.randn(batch_size, inputs), torch.randn(batch_size, hidden)]


def get_init_inputs():
    return [inputs, hidden]
