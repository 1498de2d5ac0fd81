# What files take from timm.layers, as its documentation describes it.
import torch
import torch.nn as nn
import torch.nn.functional as F


def to_ntuple(n):
    def parse(x):
        return tuple(x) if isinstance(x, (list, tuple)) else (x,) * n
    return parse


def to_1tuple(x):
    return to_ntuple(1)(x)


def to_2tuple(x):
    return to_ntuple(2)(x)


def to_3tuple(x):
    return to_ntuple(3)(x)


def to_4tuple(x):
    return to_ntuple(4)(x)


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    least = min_value or divisor
    rounded = max(least, int(v + divisor / 2) // divisor * divisor)
    if rounded < round_limit * v:
        rounded += divisor
    return rounded


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return nn.init.trunc_normal_(tensor, mean, std, a, b)


def lecun_normal_(tensor):
    return nn.init.kaiming_normal_(tensor, nonlinearity="linear")


def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True):
    if drop_prob == 0.0 or not training:
        return x
    kept = F.dropout(torch.ones((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype), drop_prob)
    return x * kept if scale_by_keep else x * kept * (1.0 - drop_prob)


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        super().__init__()
        self.drop_prob = drop_prob
        self.scale_by_keep = scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob or 0.0, self.training, self.scale_by_keep)


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, norm_layer=None,
                 bias=True, drop=0.0, use_conv=False):
        super().__init__()
        hidden = hidden_features or in_features
        biases, drops = to_2tuple(bias), to_2tuple(drop)
        if use_conv:
            self.fc1 = nn.Conv2d(in_features, hidden, 1, bias=biases[0])
        else:
            self.fc1 = nn.Linear(in_features, hidden, bias=biases[0])
        self.act = act_layer()
        self.drop1 = nn.Dropout(drops[0])
        self.norm = norm_layer(hidden) if norm_layer is not None else nn.Identity()
        if use_conv:
            self.fc2 = nn.Conv2d(hidden, out_features or in_features, 1, bias=biases[1])
        else:
            self.fc2 = nn.Linear(hidden, out_features or in_features, bias=biases[1])
        self.drop2 = nn.Dropout(drops[1])

    def forward(self, x):
        x = self.drop1(self.act(self.fc1(x)))
        return self.drop2(self.fc2(self.norm(x)))
