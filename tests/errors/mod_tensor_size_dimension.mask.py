lambda b, h, q, k: ids.size(2) > q
