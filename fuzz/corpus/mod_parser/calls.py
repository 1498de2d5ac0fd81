lambda s, b, h, q, k: C * s.tanh().clamp(min=-1.5, max=2) ** 2 - math.log2(8) * (q > k).float() if True else float("-inf")
