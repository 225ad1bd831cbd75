"""The number of samples in a batch as a tensor, so that a captured step serves batches of all sizes."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.tensors.tensor import ops


def count_samples(tensor, dtype="float32"):
    """Return a tensor's first size.

    Parameters
    ----------
    tensor : Tensor
        With one axis at least.
    dtype : str, optional, default="float32"
        The number's dtype.

    Returns
    -------
    Union[int, Tensor]
        A number; while a function is captured, a tensor that follows the size: a constant in each of its plans.

    """
    size = tensor.shape[0]
    return ops.sum(ops.full((size,), 1, dtype=dtype)) if is_capturing() else int(size)
