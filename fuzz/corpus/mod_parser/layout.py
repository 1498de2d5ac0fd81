@torch.compile
def m(
    b, h,  # indices
    q, k,
):
    return torch.logical_not(q - \
        k > 1_0e0)
