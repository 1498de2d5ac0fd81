"""The modules that the tests of suites write into their folders."""

MODULES = {
    "level1/1_softmax.py": """
import torch
import torch.nn as nn

rows = 96
columns = 80

class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)

def get_inputs():
    return [torch.rand(rows, columns)]

def get_init_inputs():
    return []
""",
    "level1/2_dense.py": """
import torch
import torch.nn as nn

batch_size = 24
features = 40

class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 32)

    def forward(self, x, factor):
        return torch.relu(self.linear(x)) * factor

def get_inputs():
    return [torch.rand(batch_size, features), 2.5]

def get_init_inputs():
    return [features]
""",
    "level1/3_scale.py": """
import torch
import torch.nn as nn

n = 512

class Model(nn.Module):
    def forward(self, x):
        return 3.0 * torch.tanh(x)

def get_inputs():
    return [torch.rand(n, 16)]

def get_init_inputs():
    return []
""",
}


def write_modules(folder):
    for name, text in MODULES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
