from attn_gym.masks import causal_mask
lambda b, h, q, k: causal_mask(b, h, q, k)
