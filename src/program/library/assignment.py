# x[index] = value, as another tensor: the parts of x around what is assigned, and the value among them.
import torch


def _span(item, extent):
    """First, last and step of an index along an axis."""
    if not isinstance(item, slice):
        first = item + extent if item < 0 else item
        if first < 0 or first >= extent:
            raise ValueError("an index that is assigned to is out of range")
        return first, first + 1, 1
    first = 0 if item.start is None else item.start
    last = extent if item.stop is None else item.stop
    step = 1 if item.step is None else item.step
    if step < 1:
        raise ValueError("a slice that is assigned to has a step below 1")
    first = max(first + extent, 0) if first < 0 else min(first, extent)
    last = max(last + extent, 0) if last < 0 else min(last, extent)
    return first, last, step


def _placed(x, axis, spans, part):
    """x with `part` in the place of what the spans say, from this axis on."""
    if axis == len(spans):
        return part
    first, last, step = spans[axis]
    extent = x.shape[axis]
    over = (last - first) % step
    if over != 0:
        # The last place has fewer elements behind it than the step skips.
        count = (last - first) // step
        others = spans[axis + 1:]
        if count > 0:
            x = _placed(x, axis, spans[:axis] + [(first, last - over, step)] + others, part.narrow(axis, 0, count))
        return _placed(x, axis, spans[:axis] + [(last - over, last - over + 1, 1)] + others,
                       part.narrow(axis, count, 1))
    inside = x if last - first == extent else x.narrow(axis, first, last - first)
    if step == 1:
        inside = _placed(inside, axis + 1, spans, part)
    else:
        rows = inside.unflatten(axis, ((last - first) // step, step))
        met = _placed(rows.select(axis + 1, 0), axis + 1, spans, part).unsqueeze(axis + 1)
        inside = torch.cat([met, rows.narrow(axis + 1, 1, step - 1)], dim=axis + 1).flatten(axis, axis + 1)
    pieces = [inside]
    if first > 0:
        pieces = [x.narrow(axis, 0, first)] + pieces
    if last < extent:
        pieces = pieces + [x.narrow(axis, last, extent - last)]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=axis)


def _is_mask(item):
    return isinstance(item, torch.Tensor) and item.dtype == torch.bool


def _axes_of(item):
    return item.dim() if _is_mask(item) else 1


def _slices(items):
    return [item for item in items if isinstance(item, slice)]


def _with_masked(x, axis, mask, value):
    """x[:, mask] = value, where the mask stands for axes from `axis` on."""
    if isinstance(value, torch.Tensor) and value.dim() > 0:
        raise ValueError("where a mask holds, one number is assigned; use torch.where for others")
    mask = mask.reshape(list(mask.shape) + [1] * (x.dim() - axis - mask.dim()))
    if isinstance(value, torch.Tensor):
        return torch.where(mask, value.to(x.dtype), x)
    return x.masked_fill(mask, value)


def _with_ellipsis(items, rank):
    """The items with slices in the place of an ellipsis."""
    named = sum([_axes_of(item) for item in items if item is not ...])
    whole = []
    for item in items:
        if item is ...:
            whole = whole + [slice(None)] * (rank - named)
        else:
            whole.append(item)
    return whole


def _with_indexed(x, items, value):
    """Where tensors are among the items: the part that integers and slices say, changed where the tensors say."""
    if [item for item in items if item is None]:
        raise ValueError("None is not assigned to beside a tensor of indices")
    tensors = [i for i, item in enumerate(items) if isinstance(item, torch.Tensor)]
    apart = _slices(items[tensors[0]:tensors[-1]])
    numbers = [i for i, item in enumerate(items) if isinstance(item, int)]
    far = [i for i in numbers if _slices(items[min(i, tensors[0]):max(i, tensors[-1])])]
    if apart or (far and isinstance(value, torch.Tensor) and value.dim() > 0):
        raise ValueError("tensors of indices are assigned to where they stand side by side")
    masks = [item for item in items if _is_mask(item)]
    if masks and len(tensors) > 1:
        raise ValueError("one mask is assigned to, and no other tensor beside it")
    axes = sum([0 if isinstance(item, int) else 1 for item in items[:tensors[0]]])
    outer = []
    for item in items:
        outer = outer + ([slice(None)] * _axes_of(item) if isinstance(item, torch.Tensor) else [item])
    part = x[tuple(outer)]
    if masks:
        part = _with_masked(part, axes, masks[0], value)
    else:
        part = part.index_put([None] * axes + [items[i] for i in tensors], value)
    return with_items(x, tuple(outer), part)


def with_items(x, index, value):
    items = list(index) if isinstance(index, tuple) else [index]
    items = [torch.tensor(item) if isinstance(item, list) else item for item in items]
    items = _with_ellipsis(items, x.dim())
    if [item for item in items if isinstance(item, torch.Tensor)]:
        return _with_indexed(x, items, value)
    spans = []
    shape = []
    for item, extent in zip(items, x.shape):
        if not isinstance(item, (int, slice)):
            raise ValueError("only integers, slices, '...', masks and tensors of indices are assigned to")
        first, last, step = _span(item, extent)
        spans.append((first, last, step))
        if isinstance(item, slice):
            shape.append((last - first + step - 1) // step)
    shape = shape + list(x.shape[len(spans):])
    if isinstance(value, torch.Tensor):
        part = value.to(x.dtype).expand(shape)
    else:
        part = torch.full(shape, value, dtype=x.dtype)
    for axis, item in enumerate(items):
        if not isinstance(item, slice):
            part = part.unsqueeze(axis)
    return _placed(x, 0, spans, part)
