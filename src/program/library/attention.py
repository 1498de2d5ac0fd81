# nn.MultiheadAttention (https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
import torch
import torch.nn as nn
import torch.nn.functional as F


def _added(mask, dtype):
    """A mask as numbers that are added to scores; a boolean one is true where nobody looks."""
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, float("-inf"))
    return mask


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        if add_bias_kv or add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn of nn.MultiheadAttention are not read")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        if self.kdim == embed_dim and self.vdim == embed_dim:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
            nn.init.xavier_uniform_(self.in_proj_weight)
        else:
            self.q_proj_weight = nn.Parameter(torch.empty(embed_dim, embed_dim))
            self.k_proj_weight = nn.Parameter(torch.empty(embed_dim, self.kdim))
            self.v_proj_weight = nn.Parameter(torch.empty(embed_dim, self.vdim))
            nn.init.xavier_uniform_(self.q_proj_weight)
            nn.init.xavier_uniform_(self.k_proj_weight)
            nn.init.xavier_uniform_(self.v_proj_weight)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        if bias:
            nn.init.constant_(self.out_proj.bias, 0.0)
        if dtype is not None:
            self.to(dtype)

    def _projections(self, query, key, value):
        size = self.embed_dim
        same = self.kdim == size and self.vdim == size
        if same and query is key and key is value:
            return F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        weights = (self.in_proj_weight.split(size) if same else
                   (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight))
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.split(size)
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _heads(self, x):
        """(batch, steps, features) as (batch, heads, steps, features of a head)."""
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def _mask(self, attn_mask, key_padding_mask, query):
        mask = None
        if attn_mask is not None:
            mask = _added(attn_mask, query.dtype)
            if mask.dim() == 3:
                mask = mask.reshape(query.shape[0], self.num_heads, mask.shape[1], mask.shape[2])
        if key_padding_mask is not None:
            padding = _added(key_padding_mask, query.dtype)
            padding = padding.reshape(padding.shape[0], 1, 1, padding.shape[1])
            mask = padding if mask is None else mask + padding
        return mask

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        if is_causal and attn_mask is None:
            raise ValueError("is_causal of nn.MultiheadAttention needs attn_mask")
        q, k, v = self._projections(query, key, value)
        batched = query.dim() == 3
        if not batched:
            q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            q, k, v = q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)
        q, k, v = self._heads(q), self._heads(k), self._heads(v)
        mask = self._mask(attn_mask, key_padding_mask, q)
        dropped = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropped)
        mixed = mixed.transpose(1, 2).reshape(q.shape[0], q.shape[2], self.embed_dim)
        weights = None
        if need_weights:
            scores = torch.matmul(q * self.head_dim ** -0.5, k.transpose(-2, -1))
            weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
            if average_attn_weights:
                weights = weights.mean(dim=1)
        if not batched:
            return self.out_proj(mixed.squeeze(0)), None if weights is None else weights.squeeze(0)
        return self.out_proj(mixed if self.batch_first else mixed.transpose(0, 1)), weights
