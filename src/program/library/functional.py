# Functions of torch.nn.functional that are a few calls of others.
import torch
import torch.nn.functional as F


def channel_shuffle(input, groups):
    size, channels = input.shape[0], input.shape[1]
    rest = input.shape[2:]
    x = input.reshape((size, groups, channels // groups) + rest)
    return x.transpose(1, 2).reshape((size, channels) + rest)


def _lp_pool(mean, count, norm_type):
    return (torch.sign(mean) * F.relu(torch.abs(mean)) * count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    size = kernel_size[0] if isinstance(kernel_size, (list, tuple)) else kernel_size
    return _lp_pool(F.avg_pool1d(input.pow(norm_type), size, stride, 0, ceil_mode), size, norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    size = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size, kernel_size)
    return _lp_pool(F.avg_pool2d(input.pow(norm_type), size, stride, 0, ceil_mode), size[0] * size[1], norm_type)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if input.dim() != 2 or offsets is not None:
        raise ValueError("embedding_bag is read for bags of one length: indices of two axes, without offsets")
    if max_norm is not None or padding_idx is not None:
        raise ValueError("max_norm and padding_idx of embedding_bag are not read")
    rows = F.embedding(input, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if mode == "max":
        return rows.amax(dim=1)
    return rows.sum(dim=1) if mode == "sum" else rows.mean(dim=1)


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.mean()


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.mean(dim=-1), reduction)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    right = input.gather(-1, target.unsqueeze(-1))
    loss = F.relu(margin - right + input)
    if p != 1:
        loss = loss ** p
    if weight is not None:
        loss = loss * weight[target].unsqueeze(-1)
    others = 1 - F.one_hot(target, input.shape[-1])
    return _reduced((loss * others).sum(dim=-1) / input.shape[-1], reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    distance = F.pairwise_distance if distance_function is None else distance_function
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced(F.relu(near - far + margin), reduction)
