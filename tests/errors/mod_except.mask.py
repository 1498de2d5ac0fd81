def mod(b, h, q, k):
    except ValueError:
        pass
    return q >= k
