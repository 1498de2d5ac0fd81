def f(w, b, h, q, k):
    return q >= k

functools.partial(f, w=2)
