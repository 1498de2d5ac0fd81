def alibi(score, b, h, q, k):
    return score
