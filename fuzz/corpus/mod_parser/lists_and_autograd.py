class Cap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by=2.0):
        ctx.save_for_backward(x)
        ctx.by = by
        return torch.fmod(torch.round(x * by), 3)
    @staticmethod
    def backward(ctx, g):
        return g
def mod(score, b, h, q, k):
    assert Skv % 8 == 0 and Sq <= Skv, 'tiles'
    xs = [q]
    for x in xs:
        if len(xs) < 3: xs.append(x.unsqueeze(0) + 1)
    xs[0] += 2
    xs += (k, xs.pop())
    return Cap.apply(score) + torch.div(xs[0], 2, rounding_mode="trunc") + torch.sin(score.new_zeros(h.shape))
