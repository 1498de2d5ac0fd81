# Methods of tensors.
import torch


def unfold(x, dimension, size, step):
    if dimension < 0:
        dimension = dimension + x.dim()
    count = (x.shape[dimension] - size) // step + 1
    if step == size:
        return x.narrow(dimension, 0, count * size).unflatten(dimension, (count, size)).movedim(dimension + 1, -1)
    ends = (slice(None),) * dimension
    return torch.stack([x[ends + (slice(i, i + (count - 1) * step + 1, step),)] for i in range(size)], dim=-1)
