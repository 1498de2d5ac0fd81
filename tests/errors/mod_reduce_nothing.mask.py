lambda b, h, q, k: functools.reduce(operator.and_, [])
