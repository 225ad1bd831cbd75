"""Arrays and graphs as messages: `tf.make_tensor_proto`, `tf.make_ndarray`, `tf.io.write_graph` and its kin."""
import os

from dragon.vm.shared.arrays.creation import constant
from dragon.vm.shared.files.messages import Message
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


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Write a graph into a file, and return its name.

    Parameters
    ----------
    graph_or_graph_def : Union[FuncGraph, GraphDef]
        The graph of a concrete function, or its message.
    logdir : str
        The folder, which is made if there is none.
    name : str
        The file's name.
    as_text : bool, optional, default=True
        Whether it is text that people read.

    Returns
    -------
    str
        Where the file is.

    """
    from dragon.core import files
    message = graph_or_graph_def
    if hasattr(message, "as_graph_def"):
        message = message.as_graph_def()
    if not isinstance(message, Message):
        raise TypeError(f"tf.io.write_graph: got {message!r}, expected a graph of a function or its GraphDef")
    folder = os.fspath(logdir)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    files.write(path, str(message) if as_text else message.SerializeToString())
    return path
