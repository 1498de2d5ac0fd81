def compact_bits(x):
    x &= 0x55555555
    x = (x ^ (x >> 1)) & 0x33333333
    x = (x ^ (x >> 2)) & 0x0F0F0F0F
    x = (x ^ (x >> 4)) & 0x00FF00FF
    x = (x ^ (x >> 8)) & 0x0000FFFF
    return x

def morton_decode(idx):
    return compact_bits(idx), compact_bits(idx >> 1)

def near(b, h, q_idx, kv_idx):
    q_x, q_y = morton_decode(q_idx)
    kv_x, kv_y = morton_decode(kv_idx)
    return ((q_x - kv_x).abs() <= 1) & ((q_y - kv_y).abs() <= 1)
