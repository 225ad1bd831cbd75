"""`tf.make_tensor_proto` and `tf.make_ndarray`: arrays as messages."""
from dragon.vm.shared.arrays.creation import constant
from dragon.vm.shared.files.tensor_proto import make_proto, read_proto
from dragon.vm.shared.tensors.convert import convert_to_tensor


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """Return numbers or strings as a message.

    Parameters
    ----------
    values : Any
        What becomes a tensor.
    dtype : DType, optional
        Its dtype.
    shape : Sequence[int], optional
        Its shape.
    verify_shape, allow_broadcast : bool, optional
        Not used: a single number fills a shape.

    Returns
    -------
    TensorProto
        The message.

    """
    return make_proto(convert_to_tensor(values, dtype) if shape is None else constant(values, dtype, shape))


def make_ndarray(tensor):
    """Return the array of a message."""
    import numpy as np
    if not hasattr(tensor, "tensor_shape"):
        raise TypeError(f"tf.make_ndarray: expected a TensorProto. Received: {tensor!r}")
    return np.asarray(read_proto(tensor).numpy())
