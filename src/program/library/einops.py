# Of einops (https://einops.rocks): axes by name, as in rearrange(x, "b (h d) n -> b h n d", h=8).
import torch


def _axes(side, rank, groups_before):
    """Axes of one side of a pattern, each a list of the names that it is put together from."""
    groups = []
    inside = None
    for token in side.replace("(", " ( ").replace(")", " ) ").replace("...", " ... ").split():
        if token == "(":
            inside = []
        elif token == ")":
            groups.append(inside)
            inside = None
        elif token == "...":
            names = [f"...{i}" for i in range(rank - groups_before)]
            if inside is None:
                groups.extend([[name] for name in names])
            else:
                inside.extend(names)
        elif token == "1":
            if inside is None:
                groups.append([])
        elif inside is None:
            groups.append([token])
        else:
            inside.append(token)
    return groups


def _own_axes(side):
    """How many axes of a side stand in it, without those of an ellipsis."""
    return len(_axes(side.replace("...", " "), 0, 0))


def _lengths(tensor, groups, given):
    if len(groups) != tensor.dim():
        raise ValueError("the pattern of einops has another number of axes than the tensor")
    lengths = dict(given)
    for group, extent in zip(groups, tensor.shape):
        known = 1
        unknown = None
        for name in group:
            if name in lengths:
                known = known * lengths[name]
            elif unknown is None:
                unknown = name
            else:
                raise ValueError("a group of einops has two axes of unknown length")
        if extent % known != 0 or (unknown is None and extent != known):
            raise ValueError("an axis is not as long as the pattern of einops says")
        if unknown is not None:
            lengths[unknown] = extent // known
    return lengths


def _flat(groups):
    return [name for group in groups for name in group]


def _product(lengths, group):
    total = 1
    for name in group:
        total = total * lengths[name]
    return total


def _sides(tensor, pattern):
    left, right = pattern.split("->")
    own = _own_axes(left)
    return _axes(left, tensor.dim(), own), _axes(right, tensor.dim(), own)


def rearrange(tensor, pattern, **axes_lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(tensor)
    left, right = _sides(tensor, pattern)
    lengths = _lengths(tensor, left, axes_lengths)
    names = _flat(left)
    if sorted(names) != sorted(_flat(right)):
        raise ValueError("both sides of rearrange() have to have the same axes")
    x = tensor.reshape([lengths[name] for name in names])
    x = x.permute([names.index(name) for name in _flat(right)])
    return x.reshape([_product(lengths, group) for group in right])


def repeat(tensor, pattern, **axes_lengths):
    left, right = _sides(tensor, pattern)
    lengths = _lengths(tensor, left, axes_lengths)
    names = _flat(left)
    kept = [name for name in _flat(right) if name in names]
    x = tensor.reshape([lengths[name] for name in names]).permute([names.index(name) for name in kept])
    shape = [lengths[name] for name in _flat(right)]
    x = x.reshape([lengths[name] if name in names else 1 for name in _flat(right)]).expand(shape)
    return x.reshape([_product(lengths, group) for group in right])


def reduce(tensor, pattern, reduction, **axes_lengths):
    left, right = _sides(tensor, pattern)
    lengths = _lengths(tensor, left, axes_lengths)
    names = _flat(left)
    kept = _flat(right)
    gone = [i for i, name in enumerate(names) if name not in kept]
    x = tensor.reshape([lengths[name] for name in names])
    if gone:
        if reduction == "mean":
            x = x.mean(dim=gone)
        elif reduction == "sum":
            x = x.sum(dim=gone)
        elif reduction == "max":
            x = x.amax(dim=gone)
        elif reduction == "min":
            x = x.amin(dim=gone)
        else:
            raise ValueError("einops.reduce() takes mean, sum, max or min")
    left_over = [name for name in names if name in kept]
    x = x.permute([left_over.index(name) for name in kept])
    return x.reshape([_product(lengths, group) for group in right])


def _packed_axes(pattern):
    names = pattern.split()
    if names.count("*") != 1:
        raise ValueError("pack() and unpack() take a pattern with one '*'")
    return names.index("*"), len(names) - 1 - names.index("*")


def pack(tensors, pattern):
    before, after = _packed_axes(pattern)
    shapes = []
    flat = []
    for tensor in tensors:
        last = tensor.dim() - after
        shapes.append(tensor.shape[before:last])
        flat.append(tensor.reshape(tensor.shape[:before] + (-1,) + tensor.shape[last:]))
    return torch.cat(flat, dim=before), shapes


def unpack(tensor, packed_shapes, pattern):
    before, after = _packed_axes(pattern)
    counts = [torch.Size(shape).numel() for shape in packed_shapes]
    if len([count for count in counts if count < 0]) > 0:
        raise ValueError("unpack() takes shapes without -1")
    parts = torch.split(tensor, counts, dim=before)
    rest = tensor.shape[before + 1:]
    return [part.reshape(tensor.shape[:before] + tuple(shape) + rest) for part, shape in zip(parts, packed_shapes)]


def einsum(*tensors_and_pattern):
    pattern = tensors_and_pattern[-1]
    letters = {}
    written = []
    for token in pattern.replace(",", " , ").replace("->", " -> ").replace("...", " ... ").split():
        if token not in (",", "->", "..."):
            if token not in letters:
                letters[token] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
            token = letters[token]
        written.append(token)
    return torch.einsum("".join(written), *tensors_and_pattern[:-1])
