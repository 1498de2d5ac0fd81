lambda b, h, q, k: q > "abc
