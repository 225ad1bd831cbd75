"""Categories in bins by a hash, with no vocabulary."""

from dragon.core.capture.host_calls import is_writing
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.data_layer import HostLayer, as_host, check_choice, encode
from dragon.vm.keras.layers.preprocessing.index_lookup import as_salt
from dragon.vm.shared.hashing import CROSS_KEY, buckets, crossed_buckets
from dragon.vm.shared.tensors.dtypes import int64, string
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written.nodes import is_tensor, is_written, node, reshaped
from dragon.vm.shared.written.tables import hashed


class Hashing(HostLayer):
    """Put strings or integers into bins by their hash.

    Parameters
    ----------
    num_bins : int
        How many bins there are, that of the masked value among them.
    mask_value : Optional[Union[int, str]], optional
        A value whose bin is 0, and nobody else's.
    salt : Optional[Union[int, Sequence[int]]], optional
        A key, with which SipHash takes the place of FarmHash.

    """

    _arguments = "num_bins salt ..."

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        if kwargs.get("dtype") is None:
            kwargs["dtype"] = "int64" if output_mode == "int" else floatx()
        super().__init__(**kwargs)
        if num_bins is None or num_bins <= 0:
            raise ValueError("The `num_bins` for `Hashing` cannot be `None` or non-positive values. "
                             f"Received: num_bins={num_bins}.")
        if output_mode == "int" and self.dtype_policy.name not in ("int32", "int64"):
            raise ValueError("When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'int64'. "
                             f"Received: dtype={kwargs['dtype']}")
        modes = ("int", "one_hot", "multi_hot", "count")
        if output_mode not in modes:
            raise ValueError(f"Invalid value for argument `output_mode`. Expected one of {modes}. "
                             f"Received: output_mode={output_mode}")
        if sparse and output_mode == "int":
            raise ValueError('`sparse` may only be true if `output_mode` is `"one_hot"`, `"multi_hot"`, or `"count"`. '
                             f"Received: sparse={sparse} and output_mode={output_mode}")
        self.num_bins = num_bins
        self.mask_value = mask_value
        self.salt = as_salt(salt, "Hashing")
        self.strong_hash = salt is not None
        self.output_mode = output_mode
        self.sparse = sparse

    def call(self, inputs):
        """Return the bins of the inputs, in the form of the output mode."""
        if hasattr(inputs, "with_flat_values"):
            return inputs.with_flat_values(convert_to_tensor(self._bins(as_host(inputs.flat_values)),
                                                             dtype=self.dtype))
        if hasattr(inputs, "dense_shape"):
            found = inputs.with_values(convert_to_tensor(self._bins(as_host(inputs.values)), dtype=self.dtype))
        elif is_writing() and (is_written(inputs) or is_tensor(inputs)):
            found = self._written(inputs)
        else:
            found = convert_to_tensor(self._bins(as_host(inputs)))
        return encode(found, self.output_mode, self.num_bins, self.dtype, sparse=self.sparse)

    def _written(self, inputs):
        """Return the bins of strings or numbers that come when the function of a file runs."""
        masked = self.mask_value is not None and self.num_bins > 1
        inputs = inputs if is_written(inputs) else ops.cast(inputs, "int64")
        found = hashed(inputs, self.num_bins - masked, self.salt)
        if not masked:
            return found
        hidden = inputs == self.mask_value if is_written(inputs) else ops.eq(inputs, self.mask_value)
        return ops.where(hidden, 0, ops.add(found, 1))

    def _bins(self, array):
        from dragon.vm.shared.tensors.strings import as_bytes
        masked = self.mask_value is not None and self.num_bins > 1
        if array.dtype.kind not in "Oiubf":
            raise TypeError(f"Hashing takes strings or numbers. Received: an array of {array.dtype}")
        array = array if array.dtype == object else array.astype("int64")
        flat = array.reshape(-1).tolist()
        texts = flat if array.dtype == object else [str(number).encode() for number in flat]
        found = buckets(texts, self.num_bins - masked, self.salt)
        if masked:
            hidden = as_bytes(self.mask_value) if array.dtype == object else self.mask_value
            found = (found + 1) * [value != hidden for value in flat]
        return found.reshape(array.shape)

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return tuple(input_shape)
        return tuple(input_shape[:-1]) + (self.num_bins,)

    def compute_output_spec(self, inputs):
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=self.dtype)


class HashedCrossing(HostLayer):
    """Put combinations of categories into bins by their hash.

    Parameters
    ----------
    num_bins : int
        How many bins there are.
    output_mode : {"int", "one_hot"}, optional, default="int"
        The form of the output.

    """

    def __init__(self, num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype="int64" if output_mode == "int" and dtype is None else dtype)
        check_choice(output_mode, ("int", "one_hot"), "HashedCrossing", "output_mode")
        self.num_bins = num_bins
        self.output_mode = output_mode
        self.sparse = sparse

    def call(self, inputs):
        """Return the bins of rows of the inputs, in the form of the output mode."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError("`HashedCrossing` should be called on a list or tuple of at least two inputs. "
                             f"Received: inputs={inputs}")
        if any(hasattr(x, "dense_shape") or hasattr(x, "row_splits") for x in inputs):
            raise ValueError(f"All `HashedCrossing` inputs should be dense tensors. Received: inputs={inputs}")
        if is_writing() and any(is_written(x) or is_tensor(x) for x in inputs):
            return self._written(inputs)
        arrays = [as_host(x) for x in inputs]
        shape = arrays[0].shape
        if len(shape) > 2 or len(shape) == 2 and shape[1] != 1:
            raise ValueError("All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or `(batch_size, 1)`. "
                             f"Received: inputs={inputs}")
        if any(array.shape != shape for array in arrays):
            raise ValueError(f"All `HashedCrossing` inputs should have equal shape. Received: inputs={inputs}")
        if any(array.dtype != object and array.dtype.kind not in "iu" for array in arrays):
            raise ValueError("All `HashedCrossing` inputs should have an integer or string dtype. "
                             f"Received: inputs={inputs}")
        found = crossed_buckets([array.reshape(-1) for array in arrays], self.num_bins).reshape(shape)
        return encode(convert_to_tensor(found), self.output_mode, self.num_bins, self.compute_dtype,
                      sparse=self.sparse)

    def _written(self, inputs):
        """Return the bins of strings or numbers that come when the function of a file runs."""
        shape, kinds = tuple(inputs[0].shape), [string if is_written(x) else int64 for x in inputs]
        columns = [x if is_written(x) else ops.cast(x, "int64") for x in inputs]
        columns = [reshaped(x, (-1, 1)) for x in columns]
        count = columns[0].shape[0]
        _, found, _ = node("SparseCross", columns, [
            ("output_indices", int64, (count, 2)), ("output_values", int64, (count,)), ("output_shape", int64, (2,))],
            N=0, hashed_output=True, num_buckets=self.num_bins, hash_key=CROSS_KEY, out_type=int64,
            internal_type=int64 if int64 in kinds else string, sparse_types=[], dense_types=kinds)
        return encode(ops.reshape(found, shape), self.output_mode, self.num_bins, self.compute_dtype,
                      sparse=self.sparse)

    def compute_output_shape(self, input_shape):
        if len(input_shape) != 2 or not all(isinstance(shape, (tuple, list)) for shape in input_shape):
            raise ValueError("Expected as input a list/tuple of 2 tensors. "
                             f"Received input_shape={input_shape}")
        first, second = (tuple(shape) for shape in input_shape)
        if first[-1:] != second[-1:]:
            raise ValueError("Expected the two input tensors to have identical shapes. "
                             f"Received input_shape={input_shape}")
        if self.output_mode == "int":
            return first
        return (first[:-1] if first[-1:] == (1,) else first) + (self.num_bins,)

    def get_config(self):
        return {name: getattr(self, name) for name in ("num_bins", "output_mode", "sparse", "name", "dtype")}
