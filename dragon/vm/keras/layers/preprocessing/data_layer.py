"""The base of layers that prepare data: they also run in a pipeline, on whatever it yields."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.keras.core.backend_facts import DynamicBackend
from dragon.vm.keras.core.convert import convert_to_tensor, dense_of, is_parted, with_values
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops


class DataLayer(Layer):
    """A layer that takes arrays and lists as it takes tensors; the base of layers that prepare data."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._allow_non_tensor_positional_args = True

    # What authors of layers call, by the files of genuine Keras's source: `self.backend.image.rgb_to_hsv(x)`.
    backend = property(lambda self: DynamicBackend(), doc="The functions of the backend.")

    def _get_seed_generator(self, backend=None):
        """Return the layer's generator of seeds: there is one backend."""
        if not hasattr(self, "seed") or not hasattr(self, "generator"):
            raise ValueError(f"{type(self).__name__}: expected `seed` and `generator` to be set in `__init__`, where "
                             "`_get_seed_generator()` is called")
        return self.generator

    def convert_weight(self, weight):
        """Return the weight: there is one backend."""
        return weight


class HostLayer(Layer):
    """A layer that takes its inputs as they come, strings and ragged ones too."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True
        self.supports_jit = False


def check_choice(value, choices, caller, name):
    """Raise unless an argument is one of some words."""
    if value not in choices:
        raise ValueError(f"Unknown value for argument `{name}` of layer {caller}. Expected one of {choices}. "
                         f"Received: {name}={value}")


def batches_of(data, steps=None):
    """Return the batches that a layer is to adapt to, or None where the data are a single one."""
    import itertools
    import numpy as np
    if isinstance(data, (list, tuple, np.ndarray)) or hasattr(data, "dtype") or not hasattr(data, "__iter__"):
        return None
    return data if steps is None else itertools.islice(data, steps)


def as_host(x):
    """Return a tensor, an array or a list as an array of numbers, or of bytes where it holds strings."""
    import numpy as np
    from dragon.vm.shared.tensors.host import host_array
    from dragon.vm.shared.tensors.strings import StringTensor, to_array
    if isinstance(x, StringTensor):
        return to_array(x)
    array = host_array(x) if hasattr(x, "is_contiguous") else np.asarray(x)
    if array.dtype == object and array.size and all(isinstance(one, (int, float, np.number)) for one in array.flat):
        # Columns of a table, some of integers and some not; integers alone keep all their digits.
        is_whole = all(isinstance(one, (int, np.integer)) for one in array.flat)
        array = array.astype("int64" if is_whole else "float32")
    return to_array(x) if array.dtype.kind in "OSUT" else array


def as_strings(x, who):
    """Return a tensor, an array or a list of strings as an array of bytes, or raise for anything else."""
    array = as_host(x)
    if array.dtype != object and array.size:
        raise TypeError(f"{who} takes strings. Received: an array of {array.dtype} and of shape {array.shape}")
    return array.astype(object)


def one_hots(indices, depth, dtype):
    """Return indices with an axis more, where each has its one; none if it is out of bounds."""
    places = ops.arange(depth, dtype=indices.dtype, device=indices.device)
    return ops.cast(ops.eq(ops.unsqueeze(indices, -1), places), dtype)


def encode(indices, output_mode, depth, dtype, weights=None, sparse=False):
    """Return categories in the form that a layer's output mode asks for.

    Parameters
    ----------
    indices : Tensor
        The categories.
    output_mode : {"int", "one_hot", "multi_hot", "count"}
        As they are, a place for each, which ones a row has, or how many of each.
    depth : int
        How many categories there are.
    weights : Optional[Tensor], optional
        What each one counts.
    sparse : bool, optional
        Return a sparse tensor.

    """
    from dragon.vm.shared.tensors.dtypes import as_dtype
    if is_parted(indices):
        if output_mode == "one_hot" and hasattr(indices, "dense_shape"):
            raise NotImplementedError("one_hot: got a sparse tensor, expected a dense or ragged one, which its "
                                      "`to_dense` makes")
        if output_mode in ("int", "one_hot") and weights is None:
            return with_values(indices, lambda values: encode(values, output_mode, depth, dtype))
        if weights is None:  # what fills up short rows counts nothing
            weights = with_values(indices, lambda values: ops.cast(ops.ones_like(values), as_dtype(dtype)))
        indices, weights = dense_of(indices), dense_of(weights)
    indices, dtype = convert_to_tensor(indices), as_dtype(dtype)
    if output_mode == "int":
        return ops.cast(indices, dtype)
    indices = ops.unsqueeze(indices, -1) if len(indices.shape) == 0 else indices
    if output_mode == "one_hot":
        last = len(indices.shape) > 1 and indices.shape[-1] == 1
        made = one_hots(ops.squeeze(indices, -1) if last else indices, depth, dtype)
    else:
        axis = 1 if len(indices.shape) > 1 else 0
        if not is_capturing() and bool(ops.any(ops.lt(indices, 0))):
            raise invalid_argument(f"Input must be non-negative to be counted. Received: inputs={indices!r}")
        made = one_hots(indices, depth, dtype if weights is None else weights.dtype)
        if weights is not None:
            made = ops.mul(made, ops.unsqueeze(weights, -1))
        made = ops.amax(made, [axis]) if output_mode == "multi_hot" else ops.sum(made, axis)
        made = ops.cast(made, dtype)
    if not sparse:
        return made
    from dragon.vm.shared.sparse.math import from_dense
    return from_dense(made)
