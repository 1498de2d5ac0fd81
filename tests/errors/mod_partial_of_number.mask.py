functools.partial(3, 1)
