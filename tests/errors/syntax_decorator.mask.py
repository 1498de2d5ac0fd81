@torch.compile def f(): pass
