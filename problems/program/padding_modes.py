import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Softmax2d()
        self.b = nn.ChannelShuffle(2)
        self.c = nn.UpsamplingBilinear2d(scale_factor=2)
        self.d = nn.UpsamplingNearest2d(size=(7, 5))
        self.e = nn.LPPool2d(2, (3, 2), stride=2)
        self.f = nn.CircularPad2d((1, 2, 0, 1))
        self.g = nn.ReflectionPad3d(1)
        self.h = nn.ReplicationPad3d((1, 0, 2, 1, 0, 1))
        self.i = nn.ZeroPad1d((2, 1))
        self.k = nn.Conv1d(4, 6, 4, padding='same', padding_mode='reflect', dilation=2)
        self.l = nn.LPPool1d(3, 2)
    def forward(self, x):
        y = x.flatten(2)
        z = x.unsqueeze(2).expand(-1, -1, 3, -1, -1)
        return self.a(x), self.b(x), self.c(x), self.d(x), self.e(x.abs()), self.f(x), self.g(z), self.h(z), self.i(y), self.k(y), self.l(y.abs()), x.unfold(2, 3, 2), x.unfold(-1, 4, 2)

batch = 2
def get_inputs(): return [torch.randn(batch, 4, 8, 8)]
def get_init_inputs(): return []
