lambda score, b, h, q, k: score + math.gcd(-2 ** 63)
