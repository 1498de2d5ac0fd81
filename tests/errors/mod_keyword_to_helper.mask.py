def far(a, b):
    return a > b

lambda b, h, q, k: far(a=q, b=k)
