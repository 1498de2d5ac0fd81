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


def affine_grid(theta, size, align_corners=None):
    if len(size) != 4:
        raise ValueError("affine_grid() is read for images: a size of four numbers")
    height, width = size[2], size[3]
    rows = torch.linspace(-1, 1, height) if height > 1 else torch.zeros(1)
    columns = torch.linspace(-1, 1, width) if width > 1 else torch.zeros(1)
    if not align_corners:
        rows = rows * ((height - 1) / height)
        columns = columns * ((width - 1) / width)
    rows = rows.to(theta.dtype).reshape(1, height, 1)
    columns = columns.to(theta.dtype).reshape(1, 1, width)
    terms = theta[..., None, None]
    return torch.stack([terms[:, k, 0] * columns + terms[:, k, 1] * rows + terms[:, k, 2] for k in range(2)], dim=-1)


def _reflected(place, low, high):
    """Turned back at both ends, as often as it takes."""
    span = high - low
    if span == 0:
        return place * 0
    beyond = (place - low).abs()
    turns = torch.floor(beyond / span)
    rest = beyond - turns * span
    return torch.where(torch.remainder(turns, 2) == 0, rest + low, high - rest)


def _sampled_place(place, extent, padding_mode, align_corners):
    """From -1 to 1 as a number of pixels."""
    pixel = (place + 1) / 2 * (extent - 1) if align_corners else ((place + 1) * extent - 1) / 2
    if padding_mode == "reflection":
        pixel = _reflected(pixel, 0, extent - 1) if align_corners else _reflected(pixel, -0.5, extent - 0.5)
    return pixel if padding_mode == "zeros" else pixel.clamp(0, extent - 1)


def _pixels(image, row, column):
    """Of each image those at whole places, and 0 outside of it."""
    height, width = image.shape[2], image.shape[3]
    inside = (row >= 0) & (row <= height - 1) & (column >= 0) & (column <= width - 1)
    at = row.clamp(0, height - 1).long() * width + column.clamp(0, width - 1).long()
    index = at.flatten(1).unsqueeze(1).expand(-1, image.shape[1], -1)
    found = image.flatten(2).gather(2, index).unflatten(2, at.shape[1:])
    return torch.where(inside.unsqueeze(1), found, 0.0)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if input.dim() != 4 or mode == "bicubic":
        raise ValueError("grid_sample() is read for images, bilinear or nearest")
    column = _sampled_place(grid[..., 0], input.shape[3], padding_mode, align_corners)
    row = _sampled_place(grid[..., 1], input.shape[2], padding_mode, align_corners)
    if mode == "nearest":
        return _pixels(input, torch.round(row), torch.round(column))
    above = torch.floor(row)
    left = torch.floor(column)
    down = (row - above).unsqueeze(1)
    right = (column - left).unsqueeze(1)
    first = _pixels(input, above, left) * (1 - right) + _pixels(input, above, left + 1) * right
    second = _pixels(input, above + 1, left) * (1 - right) + _pixels(input, above + 1, left + 1) * right
    return first * (1 - down) + second * down


def _pair(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value, value)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    size, kernel, dilation = _pair(output_size), _pair(kernel_size), _pair(dilation)
    padding, stride = _pair(padding), _pair(stride)
    taps = kernel[0] * kernel[1]
    rows = (size[0] + 2 * padding[0] - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    columns = (size[1] + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    x = input if input.dim() == 3 else input.unsqueeze(0)
    if x.dim() != 3 or x.shape[1] % taps != 0 or x.shape[2] != rows * columns:
        raise ValueError("the input's shape is none of these patches")
    x = x.reshape(x.shape[0], x.shape[1] // taps, taps, rows, columns)
    height, width = (rows - 1) * stride[0] + 1, (columns - 1) * stride[1] + 1
    below, right = size[0] + 2 * padding[0] - height, size[1] + 2 * padding[1] - width
    total = None
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = x[:, :, i * kernel[1] + j]
            if stride[0] > 1:  # rows of zeros between the rows
                part = F.pad(part.unsqueeze(3), (0, 0, 0, stride[0] - 1)).flatten(2, 3)[:, :, :height]
            if stride[1] > 1:
                part = F.pad(part.unsqueeze(4), (0, stride[1] - 1)).flatten(3, 4)[:, :, :, :width]
            top, left = i * dilation[0], j * dilation[1]
            part = F.pad(part, (left, right - left, top, below - top))
            total = part if total is None else total + part
    total = total[:, :, padding[0]:padding[0] + size[0], padding[1]:padding[1] + size[1]]
    return total if input.dim() == 3 else total[0]
