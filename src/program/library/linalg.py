# Of torch.linalg.
import torch


def cross(input, other, dim=-1):
    return torch.cross(input, other, dim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False):
    if ord != "fro":
        raise ValueError("matrix_norm() is read for ord='fro'")
    return torch.sqrt(torch.sum(A * A, dim=dim, keepdim=keepdim))


def multi_dot(tensors):
    return torch.chain_matmul(*tensors)


def vecdot(x, y, dim=-1):
    return (x * y).sum(dim=dim)
