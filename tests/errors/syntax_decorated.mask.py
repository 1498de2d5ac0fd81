@torch.compile
x = 3
