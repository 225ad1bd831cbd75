"""Attention with several heads in the words of scripts."""
from typing import Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.nn import functional as F


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x times the share of a normal distribution below x."""
    return torch.ops.aten.gelu(input, approximate=approximate)


def added_mask(mask: Optional[Tensor], like: Tensor) -> Optional[Tensor]:
    """Return a mask as numbers that are added: minus infinity where it hides something."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        return torch.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float("-inf"))
    if not mask.is_floating_point():
        raise RuntimeError("multi_head_attention_forward: expected masks of floating numbers or bool")
    return mask


def one_key_more(mask: Optional[Tensor]) -> Optional[Tensor]:
    """Return a mask with a place for one key more, which nothing hides."""
    return None if mask is None else torch.ops.aten.pad(mask, [0, 1])


def merged_mask(attn_mask: Optional[Tensor], padding: Optional[Tensor], batch: int, heads: int) -> Optional[Tensor]:
    """Return both masks as one of three axes."""
    if padding is None:
        return attn_mask
    source = padding.size(1)
    hidden = padding.view([batch, 1, 1, source]).expand([-1, heads, -1, -1]).reshape([batch * heads, 1, source])
    return hidden if attn_mask is None else attn_mask + hidden


def mask_of_queries(attn_mask: Optional[Tensor], query: Tensor, batch_heads: int) -> Optional[Tensor]:
    """Return a mask of queries and keys with an axis for heads."""
    mask = added_mask(attn_mask, query)
    if mask is not None:
        if mask.dim() == 2:
            mask = mask.unsqueeze(0)
        elif mask.dim() != 3 or mask.size(0) != batch_heads:
            raise RuntimeError("multi_head_attention_forward: got attn_mask of " + str(mask.size()))
    return mask


def projected_inputs(query: Tensor, key: Tensor, value: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                     q_weight: Optional[Tensor], k_weight: Optional[Tensor],
                     v_weight: Optional[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values projected, by one matrix or three."""
    q_bias: Optional[Tensor] = None
    k_bias: Optional[Tensor] = None
    v_bias: Optional[Tensor] = None
    if bias is not None:
        q_bias, k_bias, v_bias = bias.chunk(3)
    if weight is not None:
        q_weight, k_weight, v_weight = weight.chunk(3)
    if q_weight is None or k_weight is None or v_weight is None:
        raise RuntimeError("multi_head_attention_forward: expected in_proj_weight, or three separate weights")
    return F.linear(query, q_weight, q_bias), F.linear(key, k_weight, k_bias), F.linear(value, v_weight, v_bias)


def heads_apart(x: Tensor, batch_heads: int, size: int) -> Tensor:
    """Return (batch * heads, length, size)."""
    return x.reshape([x.size(0), batch_heads, size]).transpose(0, 1)


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor], dropout_p: float) -> Tuple[Tensor, Tensor]:
    """Return (what each query attends to, weights)."""
    scaled = q * (1.0 / float(q.size(-1))) ** 0.5
    scores = torch.bmm(scaled, k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    weights = torch.ops.aten.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = torch.ops.aten.dropout(weights, dropout_p, True)
    return torch.bmm(weights, v), weights


def attended_only(q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor], dropout_p: float, batch: int,
                  heads: int) -> Tensor:
    """Return what each query attends to, by the operator that keeps no weights."""
    if mask is not None:
        shape = [1, 1, mask.size(1), mask.size(2)] if mask.size(0) == 1 else [batch, heads, mask.size(1), mask.size(2)]
        mask = mask.view(shape)
    shape = [batch, heads, -1, q.size(2)]
    made = F.scaled_dot_product_attention(q.reshape(shape), k.reshape(shape), v.reshape(shape), mask, dropout_p)
    return made.reshape([batch * heads, -1, q.size(2)])


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Optional[Tensor], in_proj_bias: Optional[Tensor], bias_k: Optional[Tensor],
        bias_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Optional[Tensor], training: bool = True, key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[Tensor] = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Optional[Tensor] = None, k_proj_weight: Optional[Tensor] = None,
        v_proj_weight: Optional[Tensor] = None, static_k: Optional[Tensor] = None, static_v: Optional[Tensor] = None,
        average_attn_weights: bool = True, is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
    """Return (output, weights or None)."""
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    is_batched = query.dim() == 3
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    assert query.size(2) == embed_dim_to_check, "multi_head_attention_forward: the query has another size"
    q, k, v = projected_inputs(query, key, value, None if use_separate_proj_weight else in_proj_weight, in_proj_bias,
                               q_proj_weight, k_proj_weight, v_proj_weight)
    made, weights = attended_heads(q, k, v, num_heads, bias_k, bias_v, static_k, static_v, add_zero_attn,
                                   dropout_p if training else 0.0, key_padding_mask, attn_mask, need_weights)
    output = F.linear(made, out_proj_weight, out_proj_bias)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if is_batched:
        return output, weights
    return output.squeeze(1), None if weights is None else weights.squeeze(0)


def attended_heads(q: Tensor, k: Tensor, v: Tensor, heads: int, bias_k: Optional[Tensor], bias_v: Optional[Tensor],
                   static_k: Optional[Tensor], static_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float,
                   padding: Optional[Tensor], attn_mask: Optional[Tensor],
                   need_weights: bool) -> Tuple[Tensor, Optional[Tensor]]:
    """Return (what the heads attend to, side by side; their weights or None)."""
    length, batch, size = q.size(0), q.size(1), q.size(2)
    mask, padding = mask_of_queries(attn_mask, q, batch * heads), added_mask(padding, q)
    if bias_k is not None and bias_v is not None:
        k, v = torch.cat([k, bias_k.repeat([1, batch, 1])]), torch.cat([v, bias_v.repeat([1, batch, 1])])
        mask, padding = one_key_more(mask), one_key_more(padding)
    width = size // heads
    q = heads_apart(q, batch * heads, width)
    k = heads_apart(k, batch * heads, width) if static_k is None else static_k
    v = heads_apart(v, batch * heads, width) if static_v is None else static_v
    if add_zero_attn:
        zeros = torch.zeros([batch * heads, 1, width], dtype=k.dtype, device=k.device)
        k, v = torch.cat([k, zeros], 1), torch.cat([v, zeros], 1)
        mask, padding = one_key_more(mask), one_key_more(padding)
    merged = merged_mask(mask, padding, batch, heads)
    weights: Optional[Tensor] = None
    if need_weights:
        made, found = attended(q, k, v, merged, dropout_p)
        weights = found.view([batch, heads, length, k.size(1)])
    else:
        made = attended_only(q, k, v, merged, dropout_p, batch, heads)
    return made.transpose(0, 1).reshape([length, batch, size]), weights
