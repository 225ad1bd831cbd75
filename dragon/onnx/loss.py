"""The terms of losses over classes."""
import numpy

from dragon.onnx.table import maps


def count_target(w, target, ignore_index):
    """Return which targets count, and the targets with the others set to class 0."""
    counts = w.Not(w.Equal(target, ignore_index))
    return counts, w.Where(counts, target, w.constant(0, "int64"))


def weight_of(w, weight, target, dtype):
    """Return the weight of every target's class."""
    return w.cast(w.Gather(weight, target, axis=0), dtype) if weight is not None else None


def at_target(w, x, target):
    """Return the element of each target's class from (outer, classes, inner)."""
    return w.Squeeze(w.GatherElements(x, w.Unsqueeze(target, [1]), axis=1), [1])


@maps("target_weights")
def target_weights(w, target, weight, ignore_index, dtype):
    counts, safe = count_target(w, target, ignore_index)
    if weight is None:
        return w.cast(counts, dtype)
    return w.Where(counts, weight_of(w, weight, safe, dtype), w.constant(0, dtype))


@maps("nll_loss_terms")
def nll_loss_terms(w, x, target, weight, ignore_index):
    counts, safe = count_target(w, target, ignore_index)
    terms = w.Neg(at_target(w, x, safe))
    if weight is not None:
        terms = w.Mul(terms, weight_of(w, weight, safe, x.dtype))
    return w.Where(counts, terms, w.constant(0, x.dtype))


@maps("cross_entropy_terms")
def cross_entropy_terms(w, x, target, weight, ignore_index, label_smoothing):
    counts, safe = count_target(w, target, ignore_index)
    logs = w.LogSoftmax(x, axis=1)
    terms = w.Neg(at_target(w, logs, safe))
    if weight is not None:
        terms = w.Mul(terms, weight_of(w, weight, safe, x.dtype))
    if label_smoothing:
        losses = w.Neg(logs)
        if weight is not None:
            losses = w.Mul(losses, w.Reshape(weight, [1, -1, 1]))
        smooth = w.ReduceMean(losses, [1], keepdims=0)
        terms = w.Add(w.Mul(terms, 1 - label_smoothing), w.Mul(smooth, label_smoothing))
    y = w.Where(counts, terms, w.constant(0, x.dtype))
    if not w.wants(1):
        return y
    wide = w.cast(x, w.call.outputs[1].dtype)
    return y, w.ReduceLogSumExp(wide, [1], keepdims=0)


@maps("cdist_rows")
def cdist_rows(w, x1, x2, p):
    """Distances of all pairs of rows of (batch, rows, size)."""
    apart = w.Abs(w.Sub(w.Unsqueeze(x1, [2]), w.Unsqueeze(x2, [1])))
    if p == numpy.inf:
        return w.ReduceMax(apart, [-1], keepdims=0)
    if p == 0:
        return w.ReduceSum(w.cast(w.cast(apart, "bool"), x1.dtype), [-1], keepdims=0)
    if p in (1, 2):
        return w.add(f"ReduceL{int(p)}", apart, [-1], keepdims=0)
    return w.Pow(w.ReduceSum(w.Pow(apart, p), [-1], keepdims=0), 1 / p)


@maps("pair_places")
def pair_places(w, rows, device):
    rows = int(rows)
    first, second = numpy.triu_indices(rows, 1)
    return w.constant((first * rows + second).astype("int64"))
