"""Attention, and how good images are."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor


@operation
def dot_product_attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
                          attn_logits_soft_cap=None):
    """Return means of values, weighted by how well their keys fit the queries.

    Parameters
    ----------
    query : Tensor
        Batch, length, heads, features.
    key, value : Tensor
        Batch, length, heads, features; fewer heads are shared.
    bias : Tensor, optional
        Added to the scores; batch, heads, length, length.
    mask : Tensor, optional
        Which pairs count; of that shape.
    scale : float, optional
        What scores are multiplied by; the root of the features divides them by default.
    is_causal : bool, optional, default=False
        Whether queries see only what stands before them.
    flash_attention : bool, optional
        Not True: the engine's own kernel is always taken.
    attn_logits_soft_cap : float, optional
        Must be None, as everywhere but on TPUs.

    Returns
    -------
    Tensor
        In the shape of `query`.

    """
    if flash_attention:
        raise ValueError(f"Flash attention is not supported. Received: flash_attention={flash_attention}")
    if attn_logits_soft_cap is not None:
        raise ValueError("Scores are capped on TPUs only: set attn_logits_soft_cap=None. "
                         f"Received: attn_logits_soft_cap={attn_logits_soft_cap}")
    query, key, value = tensor(query), tensor(key), tensor(value)
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        raise ValueError("`dot_product_attention` only supports 4D inputs. Received: "
                         f"query.shape={tuple(query.shape)}, key.shape={tuple(key.shape)}, "
                         f"value.shape={tuple(value.shape)}.")
    dtype = result_type(dtype_of(query), dtype_of(key), dtype_of(value))
    query, key, value = (ops.transpose(cast_to(x, dtype), 1, 2) for x in (query, key, value))
    if query.shape[1] != key.shape[1] > 1:
        times = query.shape[1] // key.shape[1]
        key, value = (_shared(x, times) for x in (key, value))
    if key.shape[1] == 1 < query.shape[1]:
        key, value = (ops.broadcast_to(x, (x.shape[0], query.shape[1], *x.shape[2:])) for x in (key, value))
    if mask is not None:
        query, mask = _seeing(query, key, cast_to(tensor(mask), "bool"), is_causal)
    weights = _combined(query, key, bias, mask, is_causal and mask is None, dtype)
    y = ops.scaled_dot_product_attention(query, key, value, weights, 0.0, is_causal and weights is None, scale=scale)
    return ops.transpose(y, 1, 2)


def _shared(x, times):
    """Return heads, each `times` in succession."""
    wide = ops.broadcast_to(ops.unsqueeze(x, 2), (*x.shape[:2], times, *x.shape[2:]))
    return ops.flatten(wide, 1, 2)


def _causal(query, key):
    return ops.tril(ops.ones((query.shape[2], key.shape[2]), dtype="bool"))


def _seeing(query, key, mask, is_causal):
    """Let queries that see nothing see everything alike, as equally low scores would have it, without gradients."""
    mask = ops.logical_and(mask, _causal(query, key)) if is_causal else mask
    sees = ops.any(mask, -1, True)
    return ops.where(sees, query, 0.0), ops.logical_or(mask, ops.logical_not(sees))


def _combined(query, key, bias, mask, is_causal, dtype):
    """Return what is added to scores, or None: masked pairs get a number so low that no weight is left."""
    if mask is None and bias is None:
        return None
    lowest = -0.7 * (65500.0 if dtype == "float16" else 3.38953e38)
    mask = _causal(query, key) if is_causal else mask
    added = ops.zeros((), dtype=dtype) if bias is None else cast_to(tensor(bias), dtype)
    return added if mask is None else ops.where(mask, added, lowest)


@operation
def psnr(x1, x2, max_val):
    """Return the ratio of the largest possible number to the difference of two images, in decibels.

    Parameters
    ----------
    x1, x2 : Tensor
        Images of the same shape.
    max_val : number
        The largest possible number.

    Returns
    -------
    Tensor
        One number.

    """
    x1, x2 = tensor(x1), tensor(x2)
    if tuple(x1.shape) != tuple(x2.shape):
        raise ValueError("Input shapes must match for PSNR calculation. "
                         f"Received: x1.shape={tuple(x1.shape)}, x2.shape={tuple(x2.shape)}")
    error = ops.mean(ops.square(ops.sub(x1, x2)))
    most = tensor(max_val, dtype_of(x2))
    return ops.sub(ops.mul(ops.log10(most), 20), ops.mul(ops.log10(error), 10))
