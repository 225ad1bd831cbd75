"""Attention with scores and masks of one's own: functions of (batch, head, query, key), called once for all places."""
import math
from typing import NamedTuple, Optional

from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nn.attention._block_mask import (  # noqa: F401
    _DEFAULT_SPARSE_BLOCK_SIZE, BlockMask, _sliced_mask_mod_error, and_masks, create_block_mask, create_mask, noop_mask,
    or_masks, places)


class AuxRequest(NamedTuple):
    """The things that `flex_attention` is asked for beside the values."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The things that `flex_attention` returns beside the values."""

    lse: Optional[Tensor] = None
    max_scores: Optional[Tensor] = None


def _check(query, key, value, block_mask, enable_gqa):
    """Raise unless queries, keys, values and mask fit together."""
    shapes = f"flex_attention: got {tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"{shapes}. Expect query and key/value to have the same embedding dimension but got "
                         f"E={query.shape[-1]} and E={key.shape[-1]}.")
    if not query.ndim == key.ndim == value.ndim == 4:
        raise NotImplementedError(f"{shapes}, expected 4 dims. NYI: query, key, and value must be 4D tensors")
    (batches, heads, queries, _), (key_batches, key_heads, keys, _) = query.shape, key.shape
    if not enable_gqa and heads != key_heads:
        raise ValueError(f"{shapes}. Expect query and key/value to have the same number of heads but got Hq={heads} "
                         f"and Hkv={key_heads}. Try setting enable_gqa=True for GQA.")
    if heads % key_heads:
        raise ValueError(f"{shapes}. Expect number of query heads to be a multiple of kv heads for GQA but got "
                         f"Hq={heads} and Hkv={key_heads}.")
    if batches != key_batches and block_mask is None:
        raise ValueError(f"{shapes}. Expect query and key/value to have the same batch size, or non-none block_mask, "
                         f"but got block_mask=None, Bq={batches}, and Bkv={key_batches}.")
    if block_mask is None:
        return
    known = block_mask.kv_num_blocks.shape[0]
    if batches not in (key_batches, known):
        raise ValueError(f"{shapes}. Expect query and key/value to have the same batch size, or block_mask and query "
                         f"to have the same batch size, but got Bq={batches}, Bkv={key_batches}, B_block_mask={known}.")
    if block_mask.mask_mod is _sliced_mask_mod_error:
        raise RuntimeError("flex_attention: got a part of a mask, expected one with a mask_mod of its own. Cannot use "
                           "mask_mod from a sliced BlockMask")
    rows, columns = block_mask.shape[-2:]
    if (rows, columns) != (queries, keys):
        advice = ("smaller length than you're using it for, you likely need to create a new block mask."
                  if queries > rows or keys > columns else
                  "larger length than you're using it for, you can create a new block mask with the correct length, or "
                  "take its upper left corner by calling block_mask._adjust(q_len, kv_len).")
        raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={queries} and "
                         f"kv_len={keys}. As the block mask was created for a {advice}")


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    """Attend with scores and masks of one's own.

    Parameters
    ----------
    query, key, value : Tensor
        (batch, heads, length, size).
    score_mod : Callable, optional
        A function of a score and the indices of batch, head, query and key: the new score. It is called once with
        tensors that broadcast to all places, so it has to be written in operators.
    block_mask : BlockMask, optional
        Which keys each query sees.
    scale : float, optional
        The factor of the products; by default one over the root of the size.
    enable_gqa : bool, optional, default=False
        Whether heads of keys and values serve several heads of queries.
    return_lse : bool, optional, default=False
        Whether the logarithm of the weights' sums is returned too.
    kernel_options : dict, optional
        How GPU kernels are tuned; the CPU has nothing to tune.
    return_aux : AuxRequest, optional
        What else is returned.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, Tensor], Tuple[Tensor, AuxOutput]]
        The attended values, and what was asked for.

    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError("flex_attention: got return_lse and return_aux. Cannot specify both return_lse and "
                         "return_aux. return_lse is deprecated, please use return_aux=AuxRequest(lse=True) instead.")
    if query.shape[1] != key.shape[1]:
        groups = query.shape[1] // key.shape[1]
        key, value = (ops.repeat_interleave(x, groups, 1) for x in (key, value))
    if key.dtype != query.dtype:
        key, value = ops.cast(key, query.dtype), ops.cast(value, query.dtype)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    working = query.dtype if query.dtype.itemsize >= 4 else "float32"
    scores = ops.cast(ops.matmul(query, ops.transpose(key, -2, -1)), working) * scale
    indices = places(scores.shape, scores.device)
    if score_mod is not None:
        scores = ops.cast(score_mod(scores, *indices), working)
    if block_mask is not None:
        shown = ops.expand(block_mask.mask_mod(*indices), scores.shape)
        rows, columns = block_mask.BLOCK_SIZE
        dense = ops.repeat_interleave(ops.repeat_interleave(block_mask.to_dense(), rows, -2), columns, -1)
        dense = ops.cast(dense, "bool")[..., :scores.shape[-2], :scores.shape[-1]]
        scores = ops.masked_fill(scores, ops.logical_not(ops.logical_and(shown, dense)), -math.inf)
    sums = ops.logsumexp(scores, -1, True)
    # A query that sees nothing attends to nothing.
    blind = ops.isneginf(sums)
    weights = ops.exp(scores - ops.masked_fill(sums, blind, 0.0))
    made = ops.matmul(ops.cast(weights, query.dtype), value)
    sums = ops.squeeze(sums, -1)
    if return_aux is not None:
        greatest = ops.amax(scores, -1) if return_aux.max_scores else None
        return made, AuxOutput(sums if return_aux.lse else None, greatest)
    return (made, sums) if return_lse else made
