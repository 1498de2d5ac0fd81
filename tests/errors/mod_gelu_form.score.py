lambda score, b, h, q, k: F.gelu(score, approximate="fast")
