"""Counting right and wrong predictions of yes and no over thresholds."""
import operator

from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.losses.loss import squeeze_or_expand_to_same_rank
from dragon.vm.shared.tensors.tensor import ops

# What predictions outside of the k best become: below every threshold.
NEVER = -1e10

TRUE_POSITIVES, FALSE_POSITIVES = "true_positives", "false_positives"
TRUE_NEGATIVES, FALSE_NEGATIVES = "true_negatives", "false_negatives"


def parse_thresholds(thresholds, default=0.5):
    """Return thresholds as a list, or refuse those outside of [0, 1]."""
    if thresholds is None:
        return [default]
    thresholds = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    wrong = [t for t in thresholds if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {wrong}")
    return thresholds


def even_thresholds(count):
    """Return so many thresholds, which divide [0, 1] evenly; too many for the memory are an error at once."""
    count = operator.index(count)
    return ops.div(ops.arange(count, dtype="float64"), count - 1).tolist()


def is_even(thresholds):
    """Tell whether thresholds divide [0, 1] evenly: a prediction's bucket can then be computed."""
    steps = len(thresholds) - 1
    fuzz = epsilon()
    return steps >= 2 and all(abs(t - i / steps) <= fuzz + 1e-5 * i / steps for i, t in enumerate(thresholds))


def update_counts(counts, y_true, y_pred, thresholds, even=False, top_k=None, class_id=None, sample_weight=None,
                  multi_label=False, label_weights=None):
    """Add what a batch has right and wrong to variables.

    Parameters
    ----------
    counts : Dict[str, Variable]
        Variables (thresholds), or (thresholds, labels) for `multi_label`, by what they count.
    thresholds : Sequence[float]
        What a prediction of yes is above.
    even : bool, optional, default=False
        The thresholds divide [0, 1] evenly.
    sample_weight : Any, optional
        Weights of samples.
    multi_label : bool, optional, default=False
        Count each label for itself.

    """
    dtype = next(iter(counts.values())).dtype
    y_true, y_pred = convert_to_tensor(y_true, dtype=dtype), convert_to_tensor(y_pred, dtype=dtype)
    y_pred, y_true = squeeze_or_expand_to_same_rank(y_pred, y_true)
    if sample_weight is not None:
        sample_weight = ops.unsqueeze(convert_to_tensor(sample_weight, dtype=dtype), -1)
        _, sample_weight = squeeze_or_expand_to_same_rank(y_true, sample_weight, expand_rank_1=False)
    if top_k is not None:
        y_pred = _keep_best(y_pred, top_k)
    if class_id is not None:
        if len(y_pred.shape) == 1:
            raise ValueError("When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
                             f"num_classes), found shape: {tuple(y_pred.shape)}")
        y_true, y_pred = (ops.narrow(x, len(x.shape) - 1, class_id, 1) for x in (y_true, y_pred))
    weight = _weights(y_pred, sample_weight, label_weights)
    columns = (-1, y_pred.shape[-1]) if multi_label else (-1, 1)
    y_true, y_pred, weight = (x if x is None else ops.reshape(x, columns) for x in (y_true, y_pred, weight))
    count = _count_in_buckets if even else _count_by_threshold
    found = count(counts, ops.cast(y_true != 0, dtype), y_pred, thresholds, weight)
    for name, variable in counts.items():
        variable.assign_add(found[name] if multi_label else ops.squeeze(found[name], -1))


def _keep_best(y_pred, k):
    """Return predictions of which all but the k largest are below every threshold."""
    _, places = ops.topk(y_pred, k)
    kept = ops.sum(ops.one_hot(places, y_pred.shape[-1]), axis=-2) != 0
    return ops.where(kept, y_pred, NEVER)


def _weights(y_pred, sample_weight, label_weights):
    """Return the weight of each prediction, or None for one."""
    weight = None if sample_weight is None else ops.broadcast_to(sample_weight, tuple(y_pred.shape))
    if label_weights is None:
        return weight
    labels = ops.broadcast_to(ops.unsqueeze(convert_to_tensor(label_weights, dtype=y_pred.dtype), 0),
                              tuple(y_pred.shape))
    return labels if weight is None else weight * labels


def _count_by_threshold(counts, y_true, y_pred, thresholds, weight):
    """Return all counts (thresholds, columns): every prediction is compared with every threshold."""
    limits = ops.reshape(convert_to_tensor(list(thresholds), dtype=y_pred.dtype), (-1, 1, 1))
    positive = ops.cast(y_pred > limits, y_pred.dtype)
    yes, no = (x if weight is None else x * weight for x in (y_true, 1 - y_true))
    sides = {TRUE_POSITIVES: (yes, positive), FALSE_POSITIVES: (no, positive),
             FALSE_NEGATIVES: (yes, None), TRUE_NEGATIVES: (no, None)}
    return {name: ops.sum(side * (1 - positive if chosen is None else chosen), axis=1)
            for name, (side, chosen) in sides.items() if name in counts}


def _count_in_buckets(counts, y_true, y_pred, thresholds, weight):
    """Return all counts (thresholds, columns): each prediction is put between its two thresholds, then summed up."""
    size, columns = len(thresholds), y_pred.shape[-1]
    # The count of thresholds below the prediction. Were the least below zero, so would a prediction of zero be above.
    below = ops.ceil(ops.clamp(y_pred, 0.0, 1.0) * (size - 1))
    if thresholds[0] < 0.0 or thresholds[-1] > 1.0:
        below = ops.maximum(below, 1)
    below = ops.where(y_pred == y_pred, below, 0)  # what is not a number is above no threshold
    bucket = ops.cast(below, "int64") + size * ops.arange(columns)
    bucket = ops.reshape(bucket, (-1,))
    yes, no = (x if weight is None else x * weight for x in (y_true, 1 - y_true))

    def above(values):
        sums = ops.scatter_add(ops.zeros((columns * size,), dtype=values.dtype), 0, bucket, ops.reshape(values, (-1,)))
        sums = ops.flip(ops.cumsum(ops.flip(ops.reshape(sums, (columns, size)), 1), 1), 1)
        return ops.transpose(ops.pad(ops.narrow(sums, 1, 1, size - 1), (0, 1)), 0, 1)

    yes_above, no_above = above(yes), above(no)
    return {TRUE_POSITIVES: yes_above, FALSE_POSITIVES: no_above,
            FALSE_NEGATIVES: ops.sum(yes, axis=0) - yes_above, TRUE_NEGATIVES: ops.sum(no, axis=0) - no_above}
