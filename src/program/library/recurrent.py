# Recurrent modules (https://pytorch.org/docs/stable/nn.html#recurrent-layers). Layers are operators over the steps.
import math
import kernelwright
import torch
import torch.nn as nn
import torch.nn.functional as F


def _gates_of(mode):
    return {"LSTM": 4, "GRU": 3, "RNN": 1}[mode]


def _uniform(shape, bound):
    parameter = nn.Parameter(torch.empty(*shape))
    nn.init.uniform_(parameter, -bound, bound)
    return parameter


def _next_state(mode, nonlinearity, inputs, state, weight, bias):
    """One step; `inputs` are what the step's input gives all gates, with its bias."""
    hidden = F.linear(state[0], weight, bias)
    if mode == "RNN":
        sums = inputs + hidden
        return (torch.tanh(sums) if nonlinearity == "tanh" else torch.relu(sums),)
    if mode == "GRU":
        reset_in, update_in, new_in = inputs.chunk(3, -1)
        reset_hidden, update_hidden, new_hidden = hidden.chunk(3, -1)
        reset = torch.sigmoid(reset_in + reset_hidden)
        update = torch.sigmoid(update_in + update_hidden)
        new = torch.tanh(new_in + reset * new_hidden)
        return ((1 - update) * new + update * state[0],)
    entered, forgotten, cell, output = (inputs + hidden).chunk(4, -1)
    kept = torch.sigmoid(forgotten) * state[1] + torch.sigmoid(entered) * torch.tanh(cell)
    return (torch.sigmoid(output) * torch.tanh(kept), kept)


class _Cell(nn.Module):
    def _make(self, mode, input_size, hidden_size, bias, nonlinearity):
        self.mode = mode
        self.nonlinearity = nonlinearity
        self.hidden_size = hidden_size
        self.input_size = input_size
        bound = 1 / math.sqrt(hidden_size)
        rows = _gates_of(mode) * hidden_size
        self.weight_ih = _uniform((rows, input_size), bound)
        self.weight_hh = _uniform((rows, hidden_size), bound)
        self.bias_ih = _uniform((rows,), bound) if bias else None
        self.bias_hh = _uniform((rows,), bound) if bias else None

    def _step(self, x, state):
        inputs = F.linear(x, self.weight_ih, self.bias_ih)
        return _next_state(self.mode, self.nonlinearity, inputs, state, self.weight_hh, self.bias_hh)

    def _zeros(self, x):
        return torch.zeros(x.shape[:-1] + (self.hidden_size,), dtype=x.dtype)


class RNNCell(_Cell):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self._make("RNN", input_size, hidden_size, bias, nonlinearity)
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        return self._step(input, (self._zeros(input) if hx is None else hx,))[0]


class GRUCell(_Cell):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self._make("GRU", input_size, hidden_size, bias, "")
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        return self._step(input, (self._zeros(input) if hx is None else hx,))[0]


class LSTMCell(_Cell):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self._make("LSTM", input_size, hidden_size, bias, "")
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        if hx is None:
            hx = (self._zeros(input), self._zeros(input))
        return self._step(input, hx)


class _Layers(nn.Module):
    def _make(self, mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size):
        self.mode = mode
        self.nonlinearity = ""
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        bound = 1 / math.sqrt(hidden_size)
        rows = _gates_of(mode) * hidden_size
        state_size = proj_size if proj_size > 0 else hidden_size
        for layer in range(num_layers):
            for end in self._ends():
                columns = input_size if layer == 0 else state_size * len(self._ends())
                name = f"_l{layer}{end}"
                setattr(self, "weight_ih" + name, _uniform((rows, columns), bound))
                setattr(self, "weight_hh" + name, _uniform((rows, state_size), bound))
                if bias:
                    setattr(self, "bias_ih" + name, _uniform((rows,), bound))
                    setattr(self, "bias_hh" + name, _uniform((rows,), bound))
                if proj_size > 0:
                    setattr(self, "weight_hr" + name, _uniform((proj_size, hidden_size), bound))

    def flatten_parameters(self):
        pass

    def _ends(self):
        return ("", "_reverse") if self.bidirectional else ("",)

    def _direction(self, x, state, name, backwards):
        """All steps of one layer in one direction; x is (batch, steps, features), and so are the states behind them."""
        bias_ih = getattr(self, "bias_ih" + name) if self.bias else None
        bias_hh = getattr(self, "bias_hh" + name) if self.bias else None
        weight = getattr(self, "weight_hh" + name)
        inputs = F.linear(x, getattr(self, "weight_ih" + name), bias_ih)
        if self.proj_size == 0:
            mode = self.mode if self.mode != "RNN" else "RNN_" + self.nonlinearity.upper()
            cell = state[1] if self.mode == "LSTM" else None
            return kernelwright.recurrence(inputs, state[0], weight, mode, bias_hh, cell, backwards)
        outputs = []
        steps = range(x.shape[1])
        for step in reversed(steps) if backwards else steps:
            hidden, cell = _next_state(self.mode, self.nonlinearity, inputs[:, step], state, weight, bias_hh)
            state = (F.linear(hidden, getattr(self, "weight_hr" + name)), cell)
            outputs.append(state)
        if backwards:
            outputs = outputs[::-1]
        return tuple(torch.stack([one[i] for one in outputs], dim=1) for i in range(2))

    def _run(self, x, states):
        """`states` are as wide as there are tensors of state; each is (layers * directions, batch, features)."""
        batched = x.dim() == 3
        if not batched:
            x = x.unsqueeze(0)
            states = None if states is None else [one.unsqueeze(1) for one in states]
        elif not self.batch_first:
            x = x.transpose(0, 1)
        count = 2 if self.mode == "LSTM" else 1
        sizes = (self.proj_size if self.proj_size > 0 else self.hidden_size, self.hidden_size)
        last = []
        for layer in range(self.num_layers):
            results = []
            for end in self._ends():
                if states is None:
                    state = tuple(torch.zeros(x.shape[0], sizes[i], dtype=x.dtype) for i in range(count))
                else:
                    state = tuple(one[len(last)] for one in states)
                backwards = end != ""
                steps = self._direction(x, state, f"_l{layer}{end}", backwards)
                results.append(steps[0])
                last.append([one[:, 0 if backwards else -1] for one in steps])
            x = results[0] if len(results) == 1 else torch.cat(results, dim=-1)
            if self.dropout > 0 and layer + 1 < self.num_layers:
                x = F.dropout(x, self.dropout, self.training)
        finals = tuple(torch.stack([state[i] for state in last]) for i in range(count))
        if not batched:
            return x.squeeze(0), tuple(one.squeeze(1) for one in finals)
        return x if self.batch_first else x.transpose(0, 1), finals


class RNN(_Layers):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, device=None, dtype=None):
        super().__init__()
        self._make("RNN", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0)
        self.nonlinearity = nonlinearity
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        output, finals = self._run(input, None if hx is None else (hx,))
        return output, finals[0]


class GRU(_Layers):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        super().__init__()
        self._make("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0)
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        output, finals = self._run(input, None if hx is None else (hx,))
        return output, finals[0]


class LSTM(_Layers):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self._make("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size)
        if dtype is not None:
            self.to(dtype)

    def forward(self, input, hx=None):
        return self._run(input, hx)
