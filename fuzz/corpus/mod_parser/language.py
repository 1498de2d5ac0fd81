import functools
def f(a, c=10, *rest, d=100, **kw): return a
def make(w, *fs, e=1):
    if w < 0:
        raise ValueError("w")
    assert w >= 0, "w"
    total = 0
    for i, (x, y) in enumerate(zip((1, 2), [3, 4], strict=True), 1):
        total += x * y + i
    first, *middle, last = [*range(2, 9, 3), 1]
    return functools.partial(lambda n, b, h, q, k, m=0: (q - k + n <= total) & any(t > 1 for t in middle), w)
def mod(b, h, q, k):
    t = table[:, 1][h] + table[-1][k] + table.shape[0] + len(table) + table.size(-1)
    near = sorted([3, 1, 2], reverse=True)[0] in (1, 2, 3)
    return (ids[q] == ids[k]) & flags[b, k] & make(3)(b, h, q, k) | (t > 3 if near else q > k)
or_masks(mod, and_masks(mod, noop_mask))
