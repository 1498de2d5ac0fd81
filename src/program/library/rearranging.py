# Modules of torch.nn that are a few calls of operators.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Softmax2d(nn.Module):
    def forward(self, x):
        return F.softmax(x, dim=-3)


class ChannelShuffle(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        return F.channel_shuffle(x, self.groups)


class UpsamplingNearest2d(nn.Module):
    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor

    def forward(self, x):
        return F.interpolate(x, size=self.size, scale_factor=self.scale_factor, mode="nearest")


class UpsamplingBilinear2d(nn.Module):
    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor

    def forward(self, x):
        return F.interpolate(x, size=self.size, scale_factor=self.scale_factor, mode="bilinear", align_corners=True)


class _LPPool(nn.Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.settings = (norm_type, kernel_size, stride, ceil_mode)


class LPPool1d(_LPPool):
    def forward(self, x):
        return F.lp_pool1d(x, *self.settings)


class LPPool2d(_LPPool):
    def forward(self, x):
        return F.lp_pool2d(x, *self.settings)


class EmbeddingBag(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, include_last_offset=False, padding_idx=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        self.max_norm = max_norm
        self.padding_idx = padding_idx
        self.mode = mode

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, mode=self.mode,
                               per_sample_weights=per_sample_weights, padding_idx=self.padding_idx)


class Fold(nn.Module):
    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x):
        return F.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
