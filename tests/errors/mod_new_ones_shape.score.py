lambda score, b, h, q, k: score + score.new_ones((2,))
