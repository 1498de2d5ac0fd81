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
        size, channels = x.shape[0], x.shape[1]
        rest = x.shape[2:]
        x = x.reshape((size, self.groups, channels // self.groups) + rest)
        return x.transpose(1, 2).reshape((size, channels) + rest)


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


class LPPool1d(nn.Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, x):
        mean = F.avg_pool1d(x.pow(self.norm_type), self.kernel_size, self.stride, 0, self.ceil_mode)
        return (torch.sign(mean) * F.relu(torch.abs(mean)) * self.kernel_size).pow(1.0 / self.norm_type)


class LPPool2d(nn.Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, x):
        size = self.kernel_size
        count = size[0] * size[1] if isinstance(size, (list, tuple)) else size * size
        mean = F.avg_pool2d(x.pow(self.norm_type), size, self.stride, 0, self.ceil_mode)
        return (torch.sign(mean) * F.relu(torch.abs(mean)) * count).pow(1.0 / self.norm_type)


class EmbeddingBag(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, include_last_offset=False, padding_idx=None):
        super().__init__()
        if max_norm is not None or padding_idx is not None:
            raise ValueError("max_norm and padding_idx of nn.EmbeddingBag are not read")
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        self.mode = mode

    def forward(self, input, offsets=None, per_sample_weights=None):
        if input.dim() != 2 or offsets is not None:
            raise ValueError("nn.EmbeddingBag is read for bags of one length: indices of two axes, without offsets")
        rows = F.embedding(input, self.weight)
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.unsqueeze(-1)
        if self.mode == "max":
            return rows.amax(dim=1)
        return rows.sum(dim=1) if self.mode == "sum" else rows.mean(dim=1)
