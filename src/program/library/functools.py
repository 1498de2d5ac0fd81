# Of Python's functools: what builds functions and numbers.


class partial:
    def __init__(self, func, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


def reduce(function, iterable, initial=None):
    items = list(iterable)
    total = items.pop(0) if initial is None else initial
    for item in items:
        total = function(total, item)
    return total
