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


def new_full(x, size, fill_value, dtype=None, device=None, requires_grad=False):
    return torch.full(size, fill_value, dtype=x.dtype if dtype is None else dtype)


def fill(x, value):
    return torch.full(x.shape, value, dtype=x.dtype)


def zero(x):
    return torch.zeros(x.shape, dtype=x.dtype)


def fill_diagonal(x, fill_value):
    if x.dim() != 2:
        raise ValueError("fill_diagonal_() is read for matrices")
    return x.masked_fill(torch.eye(x.shape[0], x.shape[1], dtype=torch.bool), fill_value)


def _along(index, dim, like):
    """An index for each element of `like`, the same in all rows."""
    shape = [1] * like.dim()
    shape[dim] = index.shape[0]
    return index.reshape(shape).expand(like.shape)


def index_add(x, dim, index, source, alpha=1):
    return x.scatter_add(dim, _along(index, dim, source), source if alpha == 1 else alpha * source)


def index_copy(x, dim, index, source):
    return x.scatter(dim, _along(index, dim, source), source)


def index_fill(x, dim, index, value):
    shape = list(x.shape)
    shape[dim] = index.shape[0]
    source = torch.full(shape, value, dtype=x.dtype)
    return x.scatter(dim, _along(index, dim, source), source)


def sum_to_size(x, *size):
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    while x.dim() > len(size):
        x = x.sum(dim=0)
    gone = [axis for axis in range(x.dim()) if size[axis] == 1 and x.shape[axis] != 1]
    return x.sum(dim=gone, keepdim=True) if gone else x
