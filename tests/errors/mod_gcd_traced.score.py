lambda score, b, h, q, k: score + math.gcd(q, 4)
