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


def _from_start(index, extent):
    """Negative indices count from the end."""
    return torch.where(index < 0, index + extent, index)


def _last_named(index, extent):
    """For each place along an axis the number, from 1 on, of the last index that names it; 0 where none does."""
    numbers = torch.arange(1, index.shape[0] + 1)
    return torch.where(index.unsqueeze(1) == torch.arange(extent), numbers.unsqueeze(1), 0).amax(0)


def _in_place_of(last, dim, x):
    """Where something along `dim` was named, in the shape of x but for axes that do not matter."""
    shape = [1] * x.dim()
    shape[dim] = last.shape[0]
    return (last > 0).reshape(shape)


def index_copy(x, dim, index, source):
    if index.shape[0] == 0:
        return x
    last = _last_named(index, x.shape[dim])
    return torch.where(_in_place_of(last, dim, x), source.index_select(dim, (last - 1).clamp(min=0)), x)


def index_fill(x, dim, index, value):
    return x.masked_fill(_in_place_of(_last_named(index, x.shape[dim]), dim, x), value)


def _put_along(x, axis, indices, values, accumulate):
    """x[:, i, j] = values, where the indices stand for axes from `axis` on: these become one, and so do the indices."""
    count = len(indices)
    extents = x.shape[axis:axis + count]
    flat = _from_start(indices[0], extents[0])
    for index, extent in zip(indices[1:], extents[1:]):
        flat = flat * extent + _from_start(index, extent)
    places = list(flat.shape)
    if isinstance(values, torch.Tensor):
        values = values.to(x.dtype)
    else:
        values = torch.full([], values, dtype=x.dtype)
    values = values.expand(list(x.shape[:axis]) + places + list(x.shape[axis + count:]))
    if not places:
        values = values.unsqueeze(axis)
    elif len(places) > 1:
        values = values.flatten(axis, axis + len(places) - 1)
    rows = x if count == 1 else x.flatten(axis, axis + count - 1)
    flat = flat.reshape(-1)
    put = rows.index_add(axis, flat, values) if accumulate else rows.index_copy(axis, flat, values)
    return put.reshape(x.shape)


def index_put(x, indices, values, accumulate=False):
    chosen = [index for index in indices if index is not None]
    axis = [i for i, index in enumerate(indices) if index is not None][0]
    between = [index for index in indices[axis:axis + len(chosen)] if index is None]
    masked = [index for index in chosen if index.dtype == torch.bool]
    if between or masked:
        raise ValueError("index_put() is read where tensors of integers stand side by side")
    return _put_along(x, axis, chosen, values, accumulate)


def sum_to_size(x, *size):
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    while x.dim() > len(size):
        x = x.sum(dim=0)
    gone = [axis for axis in range(x.dim()) if size[axis] == 1 and x.shape[axis] != 1]
    return x.sum(dim=gone, keepdim=True) if gone else x
