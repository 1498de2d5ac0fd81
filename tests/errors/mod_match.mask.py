def mod(b, h, q, k):
    match q:
        case 1: pass
    return q >= k
