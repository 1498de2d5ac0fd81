else:
    x = 1
