# Of Python's itertools: what constructors count with. Lists stand for iterators.


def repeat(object, times):
    return [object] * times


def chain(*iterables):
    return [item for items in iterables for item in items]


def product(*iterables, repeat=1):
    rows = [()]
    for items in list(iterables) * repeat:
        rows = [row + (item,) for row in rows for item in items]
    return rows


def accumulate(iterable, initial=None):
    totals = [] if initial is None else [initial]
    for item in iterable:
        totals.append(totals[-1] + item if totals else item)
    return totals


def pairwise(iterable):
    items = list(iterable)
    return list(zip(items[:-1], items[1:]))
