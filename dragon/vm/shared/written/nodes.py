"""Calls of TensorFlow's operators that the engine does not compute, in functions that are written into files."""
from dragon import _C
from dragon.core.capture.host_calls import Note, is_writing, stand_ins
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, string
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import ops

DEEPEST = 4  # lists within lists that are looked into: some hold themselves


class WrittenStrings(StringTensor):
    """Strings that come when a file's function runs.

    Parameters
    ----------
    stand_in : Tensor
        Integers that stand for them.

    """

    def __init__(self, stand_in):
        self.stand_in = stand_in

    shape = property(lambda self: TensorShape(self.stand_in.shape), doc="TensorShape: the sizes of the axes.")
    ndim = property(lambda self: self.stand_in.ndim, doc="int: the number of axes.")

    @property
    def _array(self):
        raise NotImplementedError("saved_model.save: got a function that looks at strings, which come when the file's "
                                  "function runs; expected functions of tf.strings, tf.io and tf.lookup that "
                                  "docs/tensorflow/differences lists")

    def __getitem__(self, key):
        return WrittenStrings(self.stand_in[key])

    def __len__(self):
        return len(self.stand_in)

    def __iter__(self):
        return (WrittenStrings(part) for part in self.stand_in)

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype=string>"

    __str__ = __repr__

    def _compare(self, other, same):
        if other is None:
            return not same
        return (ops.eq if same else ops.ne)(self.stand_in, stand_in_of(other))

    def __add__(self, other):
        return join([self, other])

    def __radd__(self, other):
        return join([other, self])


def is_written(value, depth=DEEPEST):
    """Return whether a value, or one in its lists, has strings that come when a file's function runs."""
    if isinstance(value, (list, tuple)):
        return bool(depth) and any(is_written(one, depth - 1) for one in value)
    return isinstance(value, WrittenStrings) or hasattr(value, "row_splits") and is_written(value.flat_values)


def stand_in_of(value):
    """Return the tensor of the engine that stands for strings, or a tensor of numbers as it is."""
    value = convert_to_tensor(value)
    if isinstance(value, WrittenStrings):
        return value.stand_in
    if isinstance(value, StringTensor):
        return stand_ins(ops, Note("constant", [], value=value), [(tuple(value.shape), "int64")])[0]
    return value


def wrap(stand_in, dtype):
    """Return a result as Python has it: strings, or numbers."""
    return WrittenStrings(stand_in) if dtype is string else stand_in


def node(op, inputs, results, **attributes):
    """Call an operator of TensorFlow's.

    Parameters
    ----------
    op : str
        Its name.
    inputs : Sequence[Any]
        What it takes.
    results : Sequence[Tuple[str, Union[DType, str], Sequence[Union[int, FreeSize]]]]
        Name, dtype and shape of each result.
    **attributes : Any
        Its attributes.

    Returns
    -------
    List[Union[Tensor, WrittenStrings]]
        What stands for the results.

    """
    kinds = [as_dtype(dtype) for _, dtype, _ in results]
    note = Note("node", [stand_in_of(one) for one in inputs], op=op, attributes=attributes,
                results=[(name, kind, len(shape)) for (name, _, shape), kind in zip(results, kinds)])
    made = stand_ins(ops, note, [(shape, "int64" if kind is string else kind.name)
                                 for (_, _, shape), kind in zip(results, kinds)])
    return [wrap(one, kind) for one, kind in zip(made, kinds)]


def kind_of(value):
    """Return the dtype of a tensor as an attribute has it."""
    return string if isinstance(value, StringTensor) else as_dtype(value.dtype)


def like(op, x, dtype=None, result="output", **attributes):
    """Call an operator of one operand, whose result has the operand's shape."""
    return node(op, [x], [(result, string if dtype is None else dtype, tuple(x.shape))], **attributes)[0]


def join(inputs, separator=""):
    """Return strings at the same places, joined; single ones stand beside all."""
    inputs = [convert_to_tensor(one) for one in inputs]
    shape = next((tuple(one.shape) for one in inputs if one.ndim), ())
    return node("StringJoin", inputs, [("output", string, shape)], N=len(inputs), separator=separator)[0]


def reshaped(x, shape):
    """Return strings or numbers in another shape."""
    return wrap(ops.reshape(stand_in_of(x), shape), kind_of(x))


def writes(*values):
    """Return whether a function is written into a file, and one of its values is strings that are not there yet."""
    return is_writing() and any(map(is_written, values))


def is_tensor(value):
    """Return whether a value is a tensor of the engine."""
    return isinstance(value, _C.Tensor)


def spectrum(x, length=None):
    """Return the real and imaginary parts of Fourier's transforms of real numbers; files have no complex ones."""
    length = int(x.shape[-1] if length is None else length)
    shape, name = (*x.shape[:-1], length // 2 + 1), as_dtype(x.dtype).name
    return stand_ins(ops, Note("spectrum", [x], length=length), [(shape, name), (shape, name)])
