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


def addr(input, vec1, vec2, beta=1, alpha=1):
    product = alpha * torch.outer(vec1, vec2)
    return product if beta == 0 else beta * input + product


def aminmax(input, dim=None, keepdim=False):
    if dim is None:
        return torch.min(input), torch.max(input)
    return torch.amin(input, dim, keepdim), torch.amax(input, dim, keepdim)


def atleast_1d(input):
    return input.reshape(1) if input.dim() == 0 else input


def atleast_2d(input):
    return atleast_1d(input).unsqueeze(0) if input.dim() < 2 else input


def atleast_3d(input):
    return atleast_2d(input).unsqueeze(-1) if input.dim() < 3 else input


def _sequence(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def hstack(tensors):
    tensors = [atleast_1d(tensor) for tensor in tensors]
    return torch.cat(tensors, dim=0 if tensors[0].dim() == 1 else 1)


def vstack(tensors):
    return torch.cat([atleast_2d(tensor) for tensor in tensors], dim=0)


def row_stack(tensors):
    return vstack(tensors)


def dstack(tensors):
    return torch.cat([atleast_3d(tensor) for tensor in tensors], dim=2)


def column_stack(tensors):
    return torch.cat([tensor.reshape(-1, 1) if tensor.dim() < 2 else tensor for tensor in tensors], dim=1)


def block_diag(*tensors):
    tensors = [atleast_2d(tensor) for tensor in _sequence(tensors)]
    columns = sum([tensor.shape[1] for tensor in tensors])
    rows = []
    before = 0
    for tensor in tensors:
        rows.append(torch.nn.functional.pad(tensor, (before, columns - before - tensor.shape[1])))
        before = before + tensor.shape[1]
    return torch.cat(rows, dim=0)


def bucketize(input, boundaries, out_int32=False, right=False):
    return searchsorted(boundaries, input, right=right)


def searchsorted(sorted_sequence, input, out_int32=False, right=False, side=None):
    if sorted_sequence.dim() > 1:
        sorted_sequence = sorted_sequence.unsqueeze(-2)
    numbers = input.unsqueeze(-1)
    before = sorted_sequence <= numbers if right or side == "right" else sorted_sequence < numbers
    return before.sum(dim=-1)


def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([grid.reshape(-1) for grid in meshgrid(*tensors)], dim=-1)


def cdist(x1, x2, p=2.0, compute_mode=None):
    return torch.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, dim=-1)


def chain_matmul(*matrices):
    product = None
    for matrix in _sequence(matrices):
        product = matrix if product is None else torch.matmul(product, matrix)
    return product


def count_nonzero(input, dim=None):
    return (input != 0).sum() if dim is None else (input != 0).sum(dim=dim)


def cov(input, correction=1):
    input = atleast_2d(input)
    centred = input - input.mean(dim=1, keepdim=True)
    return torch.matmul(centred, centred.T) / (input.shape[1] - correction)


def corrcoef(input):
    products = cov(input)
    deviations = torch.sqrt(torch.diagonal(products))
    return torch.clamp(products / deviations.unsqueeze(1) / deviations.unsqueeze(0), -1.0, 1.0)


def cross(input, other, dim=-1):
    input, other = torch.broadcast_tensors(input, other)
    return (torch.roll(input, -1, dim) * torch.roll(other, -2, dim) -
            torch.roll(input, -2, dim) * torch.roll(other, -1, dim))


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    if offset != 0 or (dim1, dim2) != (-2, -1):
        raise ValueError("diag_embed() is read for the main diagonal of the last two axes")
    on_diagonal = torch.eye(input.shape[-1], dtype=torch.bool)
    return torch.where(on_diagonal, input.unsqueeze(-1), torch.zeros_like(input).unsqueeze(-1))


def diagflat(input, offset=0):
    return diag_embed(input.reshape(-1), offset)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    pieces = [piece for piece in (prepend, input, append) if piece is not None]
    x = torch.cat(pieces, dim=dim) if len(pieces) > 1 else input
    for _ in range(n):
        x = x.narrow(dim, 1, x.shape[dim] - 1) - x.narrow(dim, 0, x.shape[dim] - 1)
    return x


def dist(input, other, p=2):
    return torch.norm((input - other).reshape(-1), p)


def fliplr(input):
    return torch.flip(input, [1])


def flipud(input):
    return torch.flip(input, [0])


def rot90(input, k=1, dims=(0, 1)):
    first, second = dims
    if k % 4 == 1:
        return torch.flip(input, [second]).transpose(first, second)
    if k % 4 == 2:
        return torch.flip(input, [first, second])
    return torch.flip(input, [first]).transpose(first, second) if k % 4 == 3 else input


def inner(input, other):
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        of_a = list(range(a.dim() - dims, a.dim()))
        of_b = list(range(dims))
    else:
        of_a = [axis % a.dim() for axis in dims[0]]
        of_b = [axis % b.dim() for axis in dims[1]]
    rows = [axis for axis in range(a.dim()) if axis not in of_a]
    columns = [axis for axis in range(b.dim()) if axis not in of_b]
    steps = 1
    for axis in of_a:
        steps = steps * a.shape[axis]
    left = a.permute(rows + of_a).reshape(-1, steps)
    right = b.permute(of_b + columns).reshape(steps, -1)
    return torch.matmul(left, right).reshape([a.shape[axis] for axis in rows] + [b.shape[axis] for axis in columns])


def isclose(input, other, rtol=1e-05, atol=1e-08):
    return (input == other) | (torch.abs(input - other) <= atol + rtol * torch.abs(other))


def kron(input, other):
    rank = max(input.dim(), other.dim())
    a = input.reshape([1] * (rank - input.dim()) + list(input.shape))
    b = other.reshape([1] * (rank - other.dim()) + list(other.shape))
    for axis in range(rank):
        a = a.unsqueeze(2 * axis + 1)
        b = b.unsqueeze(2 * axis)
    product = a * b
    return product.reshape([product.shape[2 * axis] * product.shape[2 * axis + 1] for axis in range(rank)])


def ldexp(input, other):
    return input * torch.exp2(other.float())


def logspace(start, end, steps, base=10.0):
    return torch.pow(base, torch.linspace(start, end, steps))


def nanmean(input, dim=None, keepdim=False):
    known = torch.logical_not(torch.isnan(input)).to(input.dtype)
    if dim is None:
        return torch.nansum(input) / known.sum()
    return torch.nansum(input, dim, keepdim) / known.sum(dim=dim, keepdim=keepdim)


def numel(input):
    return input.numel()


def positive(input):
    return input


def signbit(input):
    return torch.copysign(torch.ones_like(input), input) < 0


def take(input, index):
    return input.reshape(-1)[index]


def tensor_split(input, indices_or_sections, dim=0):
    extent = input.shape[dim]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        longer = extent % count
        sizes = [extent // count + 1 if i < longer else extent // count for i in range(count)]
    else:
        ends = [min(end, extent) for end in indices_or_sections] + [extent]
        sizes = [ends[0]] + [max(ends[i + 1] - ends[i], 0) for i in range(len(ends) - 1)]
    return torch.split(input, sizes, dim)


def hsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


def vsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0)


def trace(input):
    return torch.diagonal(input).sum()


def _trapezoids(y, x, dx, dim):
    """The area between each two neighbours; places in a row are those of every row along `dim`."""
    if x is None:
        widths = dx
    elif x.dim() == 1:
        shape = [1] * y.dim()
        shape[dim] = x.shape[0] - 1
        widths = diff(x).reshape(shape)
    else:
        widths = diff(x, dim=dim)
    return (y.narrow(dim, 1, y.shape[dim] - 1) + y.narrow(dim, 0, y.shape[dim] - 1)) * widths / 2


def trapezoid(y, x=None, dx=1.0, dim=-1):
    return _trapezoids(y, x, dx, dim).sum(dim=dim)


def trapz(y, x=None, dx=1.0, dim=-1):
    return trapezoid(y, x, dx, dim)


def vander(x, N=None, increasing=False):
    count = x.shape[0] if N is None else N
    powers = [torch.pow(x, power) for power in range(count)]
    return torch.stack(powers if increasing else powers[::-1], dim=-1)


def broadcast_tensors(*tensors):
    tensors = _sequence(tensors)
    total = tensors[0]
    for tensor in tensors[1:]:
        total = torch.zeros_like(total) + torch.zeros_like(tensor)
    return tuple(tensor.expand(total.shape) for tensor in tensors)


def cumulative_trapezoid(y, x=None, dx=1.0, dim=-1):
    return torch.cumsum(_trapezoids(y, x, dx, dim), dim)


def index_add(input, dim, index, source, alpha=1):
    return input.index_add(dim, index, source, alpha=alpha)


def index_copy(input, dim, index, source):
    return input.index_copy(dim, index, source)


def index_fill(input, dim, index, value):
    return input.index_fill(dim, index, value)


def sort(input, dim=-1, descending=False, stable=False):
    return torch.topk(input, 1 if input.dim() == 0 else input.shape[dim], dim, largest=descending)


def argsort(input, dim=-1, descending=False, stable=False):
    return sort(input, dim, descending)[1]


def msort(input):
    return sort(input, 0)[0]


def kthvalue(input, k, dim=-1, keepdim=False):
    values, indices = torch.topk(input, k, dim, largest=False)
    values, indices = values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def median(input, dim=None, keepdim=False):
    if dim is None:
        flat = input.reshape(-1)
        return kthvalue(flat, (flat.shape[0] + 1) // 2)[0]
    return kthvalue(input, (input.shape[dim] + 1) // 2, dim, keepdim)


def quantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    if not isinstance(q, (int, float)) or q < 0 or q > 1:
        raise ValueError("q of quantile() is one number from 0 to 1")
    if interpolation != "linear":
        raise ValueError("quantile() is read with linear interpolation")
    if dim is None:
        flat = quantile(input.reshape(-1), q, 0)
        return flat.reshape([1] * input.dim()) if keepdim else flat
    place = q * (input.shape[dim] - 1)
    low = int(place)
    ordered = torch.topk(input, min(low + 2, input.shape[dim]), dim, largest=False)[0]
    below = ordered.narrow(dim, low, 1)
    above = ordered.narrow(dim, ordered.shape[dim] - 1, 1)
    value = below + (above - below) * (place - low)
    return value if keepdim else value.squeeze(dim)


def index_put(input, indices, values, accumulate=False):
    return input.index_put(indices, values, accumulate)


class finfo:
    def __init__(self, dtype=torch.float32):
        if dtype == torch.float16:
            self.max, self.eps, self.tiny, self.bits = 65504.0, 2.0 ** -10, 2.0 ** -14, 16
        elif dtype == torch.bfloat16:
            self.max, self.eps, self.tiny, self.bits = 255.0 * 2.0 ** 120, 2.0 ** -7, 2.0 ** -126, 16
        elif dtype == torch.float64:
            self.max, self.eps, self.tiny = (2.0 - 2.0 ** -52) * 2.0 ** 1023, 2.0 ** -52, 2.0 ** -1022
            self.bits = 64
        else:
            self.max, self.eps, self.tiny = (2.0 - 2.0 ** -23) * 2.0 ** 127, 2.0 ** -23, 2.0 ** -126
            self.bits = 32
        self.min = -self.max
        self.smallest_normal = self.tiny


class iinfo:
    def __init__(self, dtype=torch.int64):
        bits = {torch.uint8: 8, torch.int8: 8, torch.int16: 16, torch.int32: 32, torch.int64: 64}
        self.bits = bits[dtype]
        if dtype == torch.uint8:
            self.min, self.max = 0, 255
        else:
            self.max = 9223372036854775807 if self.bits == 64 else 2 ** (self.bits - 1) - 1
            self.min = -self.max - 1
