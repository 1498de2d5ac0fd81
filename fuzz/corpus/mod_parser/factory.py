import math
def make(w: int):
    def mod(b, h, q, k) -> bool:
        """Doc."""
        x, y = q // 4, k % -3
        x += 1
        if w > 3:
            return ~(x == y) & torch.where(q > k, q != k, True)
        return (q << 2 ^ k >> 1) > 0x1F
    return mod
m = make(3)
