"""Scaled dot product attention, taken apart."""
import math

import numpy

from dragon.onnx.source import is_dynamic
from dragon.onnx.table import maps


def shared_heads(w, x, heads):
    """Return key heads repeated for the query heads that share them."""
    if x.shape[1] == heads:
        return x
    batch, own, length, width = x.shape
    wide = w.Expand(w.Unsqueeze(x, [2]), [1, 1, heads // own, 1, 1])
    return w.reshape(wide, [batch, heads, length, width]) if not is_dynamic((length,)) else \
        w.Reshape(wide, w.sizes([batch, heads, length, width]))


def seen_before(w, queries, keys):
    """Return which keys each query sees: those up to its own place."""
    if not is_dynamic((queries, keys)):
        return w.constant(numpy.tri(queries, keys, dtype=bool))
    places = [w.Range(w.constant(0, "int64"), w.number(count), w.constant(1, "int64")) for count in (queries, keys)]
    return w.GreaterOrEqual(w.Unsqueeze(places[0], [1]), w.Unsqueeze(places[1], [0]))


def weigh(w, q, k, mask, scale, causal, nan_if_unseen):
    """Return the scores of keys for queries, and how much each counts.

    A query that sees nothing gives zeros, where the softmax would give NaN; or NaN, if that is wanted.
    """
    scores = w.MatMul(w.Mul(q, scale), w.Transpose(k, perm=[0, 1, 3, 2]))
    hidden = w.constant(-math.inf, q.dtype)
    if causal:
        scores = w.Where(seen_before(w, q.shape[2], k_length(w)), scores, hidden)
    if mask is not None:
        scores = w.Where(mask, scores, hidden) if mask.dtype == "bool" else w.Add(scores, mask)
    weights = w.Softmax(scores, axis=-1)
    if mask is not None and not nan_if_unseen:
        weights = w.Where(w.IsNaN(weights), w.constant(0, q.dtype), weights)
    return scores, weights


@maps("attention")
def attention(w, q, k, v, mask, scale, causal, nan_if_unseen=False):
    heads = q.shape[1]
    k, v = shared_heads(w, k, heads), shared_heads(w, v, heads)
    scores, weights = weigh(w, q, k, mask, scale, causal, nan_if_unseen)
    y = w.MatMul(weights, v)
    if not w.wants(1) and not w.wants(2):
        return y
    scores = w.cast(scores, w.call.outputs[1].dtype)
    most = w.ReduceMax(scores, [-1], keepdims=1)
    return y, w.Squeeze(most, [-1]), w.ReduceLogSumExp(w.Sub(scores, most), [-1], keepdims=0)


@maps("attention_backward")
def attention_backward(w, dy, y, most, log_sum, q, k, v, mask, scale, causal, nan_if_unseen=False):
    heads, own = q.shape[1], k.shape
    wide, values = shared_heads(w, k, heads), shared_heads(w, v, heads)
    _, weights = weigh(w, q, wide, mask, scale, causal, nan_if_unseen)
    turned = [0, 1, 3, 2]
    slope = w.Sub(w.MatMul(dy, w.Transpose(values, perm=turned)), w.ReduceSum(w.Mul(dy, y), [-1], keepdims=1))
    slope = w.Mul(w.Mul(weights, slope), scale)
    dk, dv = (w.MatMul(w.Transpose(one, perm=turned), other) for one, other in ((slope, q), (weights, dy)))
    return w.MatMul(slope, wide), sum_of_sharers(w, dk, own, heads), sum_of_sharers(w, dv, v.shape, heads)


def sum_of_sharers(w, x, shape, heads):
    """Return what query heads give a key head that they share, added up."""
    batch, own, length, width = shape
    if own == heads:
        return x
    return w.ReduceSum(w.Reshape(x, w.sizes([batch, own, heads // own, length, width])), [2], keepdims=0)


def k_length(w):
    """Return how many keys the call has."""
    return w.call.arguments["k"].shape[2]
