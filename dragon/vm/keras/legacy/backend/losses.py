"""Cross-entropies of elements, and of sequences without alignment."""
from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core.config import epsilon as _epsilon
from dragon.vm.keras.core.convert import convert_to_tensor as _tensor


def binary_crossentropy(target, output, from_logits=False):
    """Return the cross-entropy of each probability, or logit, of yes. ..."""
    target, output = _tensor(target), _tensor(output)
    if from_logits:
        return _ops.binary_crossentropy(_ops.cast(target, output.dtype), output, from_logits=True)
    output = _ops.clip(output, _epsilon(), 1 - _epsilon())
    target = _ops.cast(target, output.dtype)
    return -(target * _ops.log(output + _epsilon()) + (1 - target) * _ops.log(1 - output + _epsilon()))


def binary_focal_crossentropy(target, output, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False):
    """Return the cross-entropy of each probability of yes, less of those that are nearly right. ..."""
    chance = _ops.sigmoid(output) if from_logits else _tensor(output)
    target = _ops.cast(_tensor(target), chance.dtype)
    right = target * chance + (1 - target) * (1 - chance)
    found = _ops.power(1.0 - right, gamma) * binary_crossentropy(target, output, from_logits)
    return (target * alpha + (1 - target) * (1 - alpha)) * found if apply_class_balancing else found


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the cross-entropy of probabilities, or logits, along an axis. ..."""
    return _ops.categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def categorical_focal_crossentropy(target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1):
    """Return the cross-entropy of probabilities along an axis, less of those that are nearly right. ..."""
    output = _ops.softmax(output, axis=axis) if from_logits else _tensor(output)
    output = _ops.clip(output / _ops.sum(output, axis=axis, keepdims=True), _epsilon(), 1 - _epsilon())
    target = _ops.cast(_tensor(target), output.dtype)
    return _ops.sum(-target * _ops.log(output) * alpha * _ops.power(1.0 - output, gamma), axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """Return the cross-entropy of the target class along an axis, 0 for a class that is ignored. ..."""
    target, output = _ops.cast(_tensor(target), "int64"), _tensor(output)
    output = output if from_logits else _ops.log(_ops.clip(output, _epsilon(), 1 - _epsilon()))
    output = _ops.moveaxis(output, axis, -1)
    target = _ops.reshape(target, tuple(output.shape[:-1]))
    if ignore_class is None:
        return _ops.sparse_categorical_crossentropy(target, output, from_logits=True)
    counts = target != ignore_class
    found = _ops.sparse_categorical_crossentropy(_ops.where(counts, target, 0), output, from_logits=True)
    return _ops.where(counts, found, _ops.zeros_like(found))


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """Return the negative log-likelihood of each label sequence, as a column; the last class is blank."""
    logits = _ops.log(_tensor(y_pred) + _epsilon())
    found = _ops.ctc_loss(_ops.cast(_tensor(y_true), "int32"), logits, _ops.reshape(_tensor(label_length), (-1,)),
                          _ops.reshape(_tensor(input_length), (-1,)), mask_index=y_pred.shape[-1] - 1)
    return _ops.expand_dims(found, 1)


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """Return label sequences, filled with -1, one tensor for each path, and a score of each."""
    logits = _ops.log(_tensor(y_pred) + _epsilon())
    paths, scores = _ops.ctc_decode(logits, input_length, strategy="greedy" if greedy else "beam_search",
                                    beam_width=beam_width, top_paths=top_paths, mask_index=y_pred.shape[-1] - 1)
    return [_ops.cast(path, "int64") for path in paths], scores
