"""Attention of `torch.nn.functional`: masks, projections and heads around the operator that attends."""
import math

from dragon.core import warnings
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import ops

_attend = ops.scaled_dot_product_attention


@overridable
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
                                 enable_gqa=False):
    """Return `softmax(query key^T * scale + mask) value`.

    Parameters
    ----------
    query, key, value : Tensor
        (..., length, size).
    attn_mask : Tensor, optional
        Booleans, true where a query sees a key, or numbers to be added.
    dropout_p : float, optional, default=0.0
        The probability that a weight is dropped.
    is_causal : bool, optional, default=False
        Whether queries see no later keys.
    scale : float, optional
        The factor of the products; by default one over the root of the size.
    enable_gqa : bool, optional, default=False
        Whether heads of keys and values serve several heads of queries.

    Returns
    -------
    Tensor
        The attended values.

    """
    try:
        return _attend(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    except ValueError:
        # Tried first, since the operator wants equal batches and nearly all are.
        spread = equal_batches(query, key, value, 3 if enable_gqa else 2)
        if spread is None:
            raise
    return _attend(*spread, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)


def equal_batches(query, key, value, own):
    """Return three tensors with their leading axes broadcast, or None if those are equal or do not broadcast."""
    shapes = [tuple(x.shape) for x in (query, key, value)]
    axes = max(map(len, shapes))
    shapes = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    common = tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*(s[:axes - own] for s in shapes)))
    if any(size not in (1, whole) for shape in shapes for size, whole in zip(shape, common)):
        return None
    if all(tuple(x.shape)[:axes - own] == common for x in (query, key, value)):
        return None
    return [ops.expand(x, common + shape[axes - own:]) for x, shape in zip((query, key, value), shapes)]


def require(condition, message):
    """Raise what PyTorch raises where arguments of attention do not fit."""
    if not condition:
        raise AssertionError(f"multi_head_attention_forward: {message() if callable(message) else message}")


def _in_projection_packed(q, k, v, w, b=None):
    """Project queries, keys and values by one matrix, in as few products as their identity allows."""
    size = q.shape[-1]
    if k is v:
        if q is k:
            whole = ops.linear(q, w, b)
            whole = ops.movedim(ops.unflatten(whole, -1, (3, size)), -2, 0)
            return list(ops.unbind(ops.contiguous(whole), 0))
        w_q, w_kv = ops.split_with_sizes(w, [size, size * 2], 0)
        b_q, b_kv = (None, None) if b is None else ops.split_with_sizes(b, [size, size * 2], 0)
        both = ops.movedim(ops.unflatten(ops.linear(k, w_kv, b_kv), -1, (2, size)), -2, 0)
        return [ops.linear(q, w_q, b_q), *ops.unbind(ops.contiguous(both), 0)]
    weights = ops.chunk(w, 3, 0)
    biases = (None, None, None) if b is None else ops.chunk(b, 3, 0)
    return [ops.linear(*three) for three in zip((q, k, v), weights, biases)]


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Project queries, keys and values by matrices of their own, all to the size of the queries."""
    size = q.shape[-1]
    for name, weight, x in (("w_q", w_q, q), ("w_k", w_k, k), ("w_v", w_v, v)):
        wanted = (size, x.shape[-1])
        require(tuple(weight.shape) == wanted, lambda: f"got {name} of {weight.shape}, expected {wanted}")
    for name, bias in (("b_q", b_q), ("b_k", b_k), ("b_v", b_v)):
        require(bias is None or tuple(bias.shape) == (size,),
                lambda: f"got another shape of {name}, expected ({size},)")
    return ops.linear(q, w_q, b_q), ops.linear(k, w_k, b_k), ops.linear(v, w_v, b_v)


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Return whether there is a batch dim, or raise where shapes do not fit."""
    axes = query.ndim
    require(axes in (2, 3), lambda: "query should be unbatched 2D or batched 3D tensor but received "
            f"{axes}-D query tensor")
    require(key.ndim == axes and value.ndim == axes,
            lambda: f"got key of {key.shape} and value of {value.shape}, expected {axes} dims as the query has")
    if key_padding_mask is not None:
        require(key_padding_mask.ndim == axes - 1,
                lambda: f"got key_padding_mask of {key_padding_mask.shape}, expected {axes - 1} dims")
    if attn_mask is not None:
        require(attn_mask.ndim in (2, 3), lambda: f"got attn_mask of {attn_mask.shape}, expected 2 or 3 dims")
        if axes == 2 and attn_mask.ndim == 3:
            wanted = (num_heads, query.shape[0], key.shape[0])
            require(tuple(attn_mask.shape) == wanted, lambda: f"got attn_mask of {attn_mask.shape}, expected {wanted}")
    return axes == 3


def _none_or_dtype(input):
    """Return the dtype of a tensor, None of None."""
    return None if input is None else input.dtype


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """Return a mask as numbers to be added: minus infinity where a boolean mask hides."""
    if mask is None:
        return None
    is_float = mask.dtype.is_floating_point
    require(is_float or mask.dtype.name == "bool", f"got {mask_name} of {mask.dtype}, expected bool or floats")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(f"got {mask_name} of {mask.dtype} and {other_name} of {other_type}, expected the same dtype: "
                      "a mixture is deprecated")
    if is_float:
        return mask
    return ops.masked_fill(ops.zeros_like(mask, dtype=target_type), mask, -math.inf)


def masks_in_form(query, key_padding_mask, attn_mask, need_weights, is_causal):
    """Return both masks as numbers and whether the operator itself may hide the future."""
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask",
                                       query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("multi_head_attention_forward: got is_causal without attn_mask, expected both: the flag is "
                           "a hint about the mask")
    if is_causal and key_padding_mask is None and not need_weights:
        return None, None, True
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    return key_padding_mask, attn_mask, is_causal and key_padding_mask is None


def mask_with_heads(attn_mask, batch_heads, length, source):
    """Return an attention mask with three axes."""
    if attn_mask is None:
        return None
    wanted = (length, source) if attn_mask.ndim == 2 else (batch_heads, length, source)
    if tuple(attn_mask.shape) != wanted:
        raise RuntimeError(f"multi_head_attention_forward: The shape of the {attn_mask.ndim}D attn_mask is "
                           f"{attn_mask.shape}, but should be {wanted}.")
    return ops.unsqueeze(attn_mask, 0) if attn_mask.ndim == 2 else attn_mask


def one_more(mask):
    """Return a mask with a place for one key more, which nothing hides."""
    return None if mask is None else ops.pad(mask, (0, 1))


def heads_first(x, static, name, batch_heads, size):
    """Return keys or values as (batch * heads, length, size): those given, or static ones."""
    if static is None:
        return ops.transpose(ops.reshape(x, (x.shape[0], batch_heads, size)), 0, 1)
    require(static.shape[0] == batch_heads and static.shape[2] == size,
            lambda: f"got {name} of {static.shape}, expected ({batch_heads}, length, {size})")
    return static


def projected(query, key, value, weights, bias):
    """Return queries, keys and values projected by matrices of their own."""
    require(tuple(key.shape)[:2] == tuple(value.shape)[:2],
            lambda: f"got key of {key.shape} and value of {value.shape}, expected equal lengths and batches")
    require(all(weight is not None for weight in weights),
            "got use_separate_proj_weight, expected q_proj_weight, k_proj_weight and v_proj_weight")
    biases = (None, None, None) if bias is None else ops.chunk(bias, 3, 0)
    return _in_projection(query, key, value, *weights, *biases)


def one_mask(attn_mask, key_padding_mask, batch, heads, source):
    """Return both masks as one, with three axes, or None."""
    if key_padding_mask is None:
        return attn_mask
    require(tuple(key_padding_mask.shape) == (batch, source),
            lambda: f"got key_padding_mask of {key_padding_mask.shape}, expected ({batch}, {source}): Expected "
            f"key_padded_mask.shape[0] to be {batch}, but got {key_padding_mask.shape[0]}")
    hidden = ops.expand(ops.reshape(key_padding_mask, (batch, 1, 1, source)), (-1, heads, -1, -1))
    hidden = ops.reshape(hidden, (batch * heads, 1, source))
    return hidden if attn_mask is None else attn_mask + hidden


def attend_only(q, k, v, mask, dropout_p, is_causal, batch):
    """Return outputs of attention, (length, batch, heads, size), by the operator that keeps no weights."""
    q, k, v = (ops.reshape(x, (batch, -1, *tuple(x.shape)[1:])) for x in (q, k, v))
    if mask is not None:
        shape = (1, 1, -1, k.shape[2]) if mask.shape[0] == 1 else (batch, q.shape[1], -1, k.shape[2])
        mask = ops.reshape(mask, shape)
    return ops.permute(ops.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal), (2, 0, 1, 3))


def attend(q, k, v, mask, dropout_p, weights_shape):
    """Return outputs of attention, (length, batch * heads, size), and its weights in a shape."""
    scaled = q * math.sqrt(1.0 / q.shape[-1])
    keys = ops.transpose(k, -2, -1)
    scores = ops.bmm(scaled, keys) if mask is None else ops.baddbmm(mask, scaled, keys)
    weights = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p)
    return ops.transpose(ops.bmm(weights, v), 0, 1), ops.reshape(weights, weights_shape)


def with_batch(query, key, value, key_padding_mask):
    """Return sequences and the mask of keys as a batch of one."""
    # Identity tells self-attention, so equal tensors stay one.
    new_query = ops.unsqueeze(query, 1)
    new_key = new_query if key is query else ops.unsqueeze(key, 1)
    new_value = new_query if value is query else new_key if value is key else ops.unsqueeze(value, 1)
    return new_query, new_key, new_value, None if key_padding_mask is None else ops.unsqueeze(key_padding_mask, 0)


def with_heads(q, k, v, masks, batch, heads, biases, static, add_zero_attn):
    """Return queries, keys and values as (batch * heads, length, size), with the keys that are added, and the mask."""
    require((biases[0] is None) == (biases[1] is None), "got one of bias_k and bias_v, expected both or neither")
    if biases[0] is not None:
        require(static == (None, None), "got bias_k and bias_v with static keys, expected one of them")
        k, v = (ops.cat([x, ops.repeat(bias, (1, batch, 1))]) for x, bias in zip((k, v), biases))
        masks = map(one_more, masks)
    size = q.shape[-1] // heads
    q = heads_first(q, None, "query", batch * heads, size)
    k = heads_first(k, static[0], "static_k", batch * heads, size)
    v = heads_first(v, static[1], "static_v", batch * heads, size)
    if add_zero_attn:
        zeros = ops.zeros((batch * heads, 1, size), dtype=k.dtype, device=k.device)
        k, v = ops.cat([k, zeros], 1), ops.cat([v, zeros], 1)
        masks = map(one_more, masks)
    return q, k, v, one_mask(*masks, batch, heads, k.shape[1])


@overridable
def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
        attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
        static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    """Attend with several heads; what `nn.MultiheadAttention` computes.

    Parameters
    ----------
    query, key, value : Tensor
        Sequences, (length, batch, size) or (length, size).
    embed_dim_to_check, num_heads : int
        The size of the queries, and into how many heads it is split.
    in_proj_weight, in_proj_bias : Tensor, optional
        The projections of queries, keys and values in one matrix.
    bias_k, bias_v : Tensor, optional
        One key and value more, learnt.
    add_zero_attn : bool
        Whether there is one more key and value of zeros.
    dropout_p : float
        The probability that a weight is dropped in training.
    out_proj_weight, out_proj_bias : Tensor
        The last projection.
    training : bool, optional, default=True
        Whether weights are dropped.
    key_padding_mask, attn_mask : Tensor, optional
        Which keys are hidden, from all queries or each: booleans, or numbers to be added.
    need_weights, average_attn_weights : bool, optional, default=True
        Whether the weights are returned too, and as the mean over heads.
    use_separate_proj_weight : bool, optional, default=False
        Whether projections are three matrices, the next three arguments.
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional
        The projections one by one.
    static_k, static_v : Tensor, optional
        Keys and values that are projected already.
    is_causal : bool, optional, default=False
        A hint that `attn_mask` hides the future.

    Returns
    -------
    Tuple[Tensor, Optional[Tensor]]
        The attended values and the weights.

    """
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value, key_padding_mask = with_batch(query, key, value, key_padding_mask)
    length, batch, size = query.shape
    key_padding_mask, attn_mask, is_causal = masks_in_form(query, key_padding_mask, attn_mask, need_weights, is_causal)
    require(size == embed_dim_to_check,
            lambda: f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    require(size % num_heads == 0, lambda: f"got size {size} and {num_heads} heads, expected a multiple")
    if use_separate_proj_weight:
        q, k, v = projected(query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        require(tuple(key.shape) == tuple(value.shape),
                lambda: f"got key of {key.shape} and value of {value.shape}, expected equal shapes")
        require(in_proj_weight is not None, "got no in_proj_weight, expected one")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    masks = mask_with_heads(attn_mask, batch * num_heads, length, key.shape[0]), key_padding_mask
    q, k, v, mask = with_heads(q, k, v, masks, batch, num_heads, (bias_k, bias_v), (static_k, static_v), add_zero_attn)
    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        made, weights = attend(q, k, v, mask, dropout_p, (batch, num_heads, length, k.shape[1]))
        weights = ops.mean(weights, 1) if average_attn_weights else weights
        weights = weights if batched else ops.squeeze(weights, 0)
    else:
        made = attend_only(q, k, v, mask, dropout_p, is_causal, batch)
    made = ops.linear(ops.reshape(made, (length * batch, size)), out_proj_weight, out_proj_bias)
    made = ops.reshape(made, (length, batch, made.shape[1]))
    return made if batched else ops.squeeze(made, 1), weights
