import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x, y):
        a = x.clone()
        a[:, 1::2] = y[:, :4]
        a[1, ::3, 2:5] += 1.5
        a[..., -1] = 3.0
        b = torch.zeros_like(x)
        b[:, :, 1:] = x[:, :, :-1]
        b[b > 1.0] = 0.25
        b[0] = a[1]
        c = x.clone()
        c.copy_(y[:1])
        m, n = torch.meshgrid(torch.arange(3, device=x.device), torch.arange(4, device=x.device), indexing='ij')
        return a, b, c * 2, (m * 10 + n).float() + x[0, 0, 0]

batch = 3
def get_inputs(): return [torch.randn(batch, 9, 7), torch.randn(batch, 9, 7)]
def get_init_inputs(): return []
