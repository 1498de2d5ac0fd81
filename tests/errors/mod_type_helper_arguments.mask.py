def far(a):
    return a > 3

lambda b, h, q, k: far(q, k)
