def f(b, h, q, k):
    x = (1 if q
    else 2)
    if x:
return 3
