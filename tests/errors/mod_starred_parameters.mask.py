lambda b, h, q, k, **options: q >= k
