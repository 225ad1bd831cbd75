"""Distances between what a net says and what it should say."""
from dragon.vm.shared import strategies
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.arrays.reducing import NOTHING_IGNORED, cross_entropy_of
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops


def _pair(labels, logits, who):
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided for {who}. Received: labels={labels}, "
                         f"logits={logits}")
    logits = take(logits)
    return take(labels, None if hasattr(labels, "dtype") else logits.dtype), logits


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """Return the cross entropy between distributions and the softmax of logits, along an axis."""
    labels, logits = _pair(labels, logits, "softmax_cross_entropy_with_logits")
    labels = ops.cast(labels, logits.dtype) if labels.dtype != logits.dtype else labels
    return cross_entropy_of(labels, logits, axis)


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """Return the cross entropy between classes and the softmax of logits, along the last axis.

    Parameters
    ----------
    labels : Tensor
        Class numbers, `(N,)`.
    logits : Tensor
        `(N, classes)`.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        `(N,)`.

    Examples
    --------
    >>> tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([0.6931472], dtype=float32)>

    """
    labels, logits = _pair(labels, logits, "sparse_softmax_cross_entropy_with_logits")
    if logits.ndim == 0:
        raise ValueError(f"Logits cannot be scalars. Received: logits={logits}")
    if tuple(labels.shape) != tuple(logits.shape)[:-1]:
        raise ValueError("`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                         f"labels.shape={tuple(labels.shape)} and logits.shape={tuple(logits.shape)}")
    rows = ops.reshape(logits, (-1, logits.shape[-1]))
    found = ops.cross_entropy(rows, ops.cast(ops.reshape(labels, (-1,)), "int64"), None, NOTHING_IGNORED, "none")
    return ops.reshape(found, tuple(labels.shape))


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """Return the cross entropy between probabilities and the sigmoids of logits, element by element."""
    labels, logits = _pair(labels, logits, "sigmoid_cross_entropy_with_logits")
    if tuple(labels.shape) != tuple(logits.shape):
        raise ValueError("`logits` and `labels` must have the same shape, received "
                         f"({tuple(logits.shape)} vs {tuple(labels.shape)}).")
    if labels.dtype != logits.dtype:
        raise invalid_argument(f"cannot compute Mul as input #1 was expected to be a {logits.dtype.name} tensor but is "
                               f"a {labels.dtype.name} tensor")
    return ops.binary_cross_entropy_with_logits(logits, labels, reduction="none")


def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """Return `sigmoid_cross_entropy_with_logits` with a weight for what should be 1."""
    labels, logits = _pair(labels, logits, "weighted_cross_entropy_with_logits")
    weight = ops.broadcast_to(take(pos_weight, logits.dtype), tuple(logits.shape))
    return ops.binary_cross_entropy_with_logits(logits, labels, reduction="none", pos_weight=weight)


def l2_loss(t, name=None):
    """Return half the sum of squares."""
    t = take(t)
    return ops.mul(ops.sum(ops.square(t)), 0.5)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """Return the negative log likelihood of counts under Poisson distributions of rates exp(log_input)."""
    targets, log_input = _pair(targets, log_input, "log_poisson_loss")
    found = ops.sub(ops.exp(log_input), ops.mul(log_input, targets))
    if compute_full_loss:
        stirling = ops.add(ops.sub(ops.mul(targets, ops.log(targets)), targets),
                           ops.mul(ops.log(ops.mul(targets, 6.283185307179586)), 0.5))
        few = ops.logical_and(ops.ge(targets, 0.0), ops.le(targets, 1.0))
        found = ops.add(found, ops.where(few, ops.zeros_like(targets), stirling))
    return found


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """Return the sum of losses divided by how many there are of all replicas, or by the size of the whole batch."""
    losses = take(per_example_loss)
    count = (losses.shape[0] if losses.ndim else 1) * strategies.count()
    if sample_weight is not None:
        losses = ops.mul(losses, take(sample_weight, losses.dtype))
    return ops.div(ops.sum(losses), float(count if global_batch_size is None else global_batch_size))


def scale_regularization_loss(regularization_loss):
    """Return a replica's part of the sum of a regularization loss."""
    return strategies.scaled(ops.sum(take(regularization_loss)))


def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
             name=None):
    """Return the negative log probabilities of label sequences, over all their alignments.

    Parameters
    ----------
    labels : Tensor
        (batch, labels): classes.
    logits : Tensor
        (times, batch, classes), or (batch, times, classes).
    label_length, logit_length : Tensor
        How many labels and times count.
    logits_time_major : bool, optional, default=True
        Which of the two.
    unique : Any, optional
        Not needed.
    blank_index : int, optional
        The class that stands for no label: 0 by default for dense labels.

    """
    from dragon.vm.shared.sparse.tensor import SparseTensor
    if isinstance(labels, SparseTensor):
        raise NotImplementedError("tf.nn.ctc_loss: labels are dense, with label_length; convert sparse ones by "
                                  f"tf.sparse.to_dense. Received: labels={labels}")
    logits = take(logits)
    logits = logits if logits_time_major else ops.transpose(logits, 0, 1)
    blank = 0 if blank_index is None else int(blank_index)
    blank = blank + logits.shape[-1] if blank < 0 else blank
    return ops.ctc_loss(ops.log_softmax(logits, -1), ops.cast(take(labels), "int64"),
                        ops.cast(take(logit_length), "int64"), ops.cast(take(label_length), "int64"), blank, "none")


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """Return (the best classes as a list of one SparseTensor, their negative log scores) of (times, batch, classes)."""
    import numpy

    from dragon.vm.shared.sparse.tensor import SparseTensor
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    logits, lengths = take(inputs), take(sequence_length)
    if getattr(logits, "ndim", 0) != 3 or tuple(lengths.shape) != tuple(logits.shape)[1:2]:
        raise ValueError("`inputs` must have rank 3: times, batch, classes, and there must be a length for each of the "
                         f"batch. Received: inputs={inputs}, sequence_length={sequence_length}")
    logits, lengths = logits.numpy(), numpy.asarray(lengths.numpy())
    blank = logits.shape[-1] - 1 if blank_index is None else int(blank_index) % logits.shape[-1]
    best, scores = logits.argmax(-1), logits.max(-1)
    places, values, longest = [], [], 0
    for row, length in enumerate(lengths):
        path = best[:length, row]
        kept = [token for step, token in enumerate(path)
                if token != blank and not (merge_repeated and step and path[step - 1] == token)]
        places += [(row, place) for place in range(len(kept))]
        values += kept
        longest = max(longest, len(kept))
    total = numpy.array([[-scores[:length, row].sum()] for row, length in enumerate(lengths)], logits.dtype)
    found = SparseTensor(numpy.array(places, "int64").reshape(-1, 2), numpy.array(values, "int64"),
                         (len(lengths), longest))
    return [found], convert_to_tensor(total)
