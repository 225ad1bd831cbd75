"""The greater and the lesser of two tensors, with TensorFlow's gradient: of equals the first one takes all of it."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.tensors.tensor import ops


def _chosen(chosen, compare, bound, sentence):
    def function(x, y):
        if not (getattr(x, "requires_grad", False) or getattr(y, "requires_grad", False) or is_capturing()):
            return chosen(x, y)
        if not hasattr(y, "dtype") and hasattr(x, "dtype"):
            return ops.clamp(x, **{bound: y}) if x.dtype.is_floating else chosen(x, y)
        if not y.dtype.is_floating:
            return chosen(x, y)
        x = x if hasattr(x, "dtype") else ops.full_like(y, x)
        # What is left is y's, or undefined: `chosen` keeps NaN.
        return ops.where(compare(x, y), x, chosen(x.detach(), y))
    function.__doc__ = sentence
    return function


greater_of = _chosen(ops.maximum, ops.ge, "min", "Return the greater of two tensors' numbers; NaN where one is NaN.")
lesser_of = _chosen(ops.minimum, ops.le, "max", "Return the lesser of two tensors' numbers; NaN where one is NaN.")
