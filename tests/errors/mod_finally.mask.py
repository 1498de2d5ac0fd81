def mod(b, h, q, k):
    finally:
        pass
    return q >= k
