"""What libraries ask of Keras's backend, and of its helpers, besides public functions."""
from dragon.core.capture.settings import is_capturing

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_SPARSE_TENSORS = False
removeprefix, removesuffix = str.removeprefix, str.removesuffix


def random_seed_dtype():
    """Return the dtype that seeds have."""
    return "int64"


def in_tf_graph():
    """Return whether a function is being traced."""
    return is_capturing()


def convert_tf_tensor(outputs, dtype=None):
    """Return tensors as they are: there is one kind of them. ..."""
    return outputs
