class Mask:
    pass
