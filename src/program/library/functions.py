# Functions of torch that are a few calls of others.
import torch


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    lengths = [tensor.numel() for tensor in tensors]
    grids = []
    for axis, tensor in enumerate(tensors):
        ones = [1] * len(tensors)
        ones[axis] = lengths[axis]
        grids.append(tensor.reshape(ones).expand(lengths))
    if indexing == "xy" and len(tensors) > 1:
        grids = [grid.transpose(0, 1) for grid in grids]
    return tuple(grids)
