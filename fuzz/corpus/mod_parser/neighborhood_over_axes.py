import functools, math, operator

def make_natten_mask(shape, kernel, causal):
    rank = len(shape)
    assert len(kernel) == rank and len(causal) == rank
    strides = [math.prod(shape[d + 1:]) for d in range(rank)]

    def coordinates(idx):
        return tuple((idx // stride) % extent for stride, extent in zip(strides, shape))

    def natten_mask(b, h, q_idx, kv_idx):
        masks = []
        for i, j, length, k, is_causal in zip(coordinates(q_idx), coordinates(kv_idx), shape, kernel, causal):
            if is_causal:
                mask = (j <= i) & (j >= torch.clamp(i - k + 1, min=0))
            else:
                start = (i - k // 2).clamp(0, length - k)
                mask = (j >= start) & (j < start + k)
            masks += [mask]
        return functools.reduce(operator.and_, masks)

    return natten_mask

natten = make_natten_mask(shape=(4, 6), kernel=(2, 5), causal=(True, False))
