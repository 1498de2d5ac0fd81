lambda b, h, q, k: (q, k)[5] > 3
