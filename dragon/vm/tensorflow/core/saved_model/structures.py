"""Arguments and results of functions: nested structures of specs, as files tell them, and the tensors in them."""
import collections

from dragon import _C
from dragon.vm.shared.errors import DataLossError
from dragon.vm.shared.files.tensor_proto import read_proto
from dragon.vm.shared.ragged.making import from_row_splits
from dragon.vm.shared.ragged.tensor import RaggedTensor, RaggedTensorSpec
from dragon.vm.shared.sparse.tensor import SparseTensor, SparseTensorSpec
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Base
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec
from dragon.vm.shared.tensors.variable import Variable

SPARSE, RAGGED, VARIABLE = 1, 3, 9  # numbers of kinds of specs


class OtherSpec(TypeSpec):
    """The spec of a kind that is not known here. ...

    Parameters
    ----------
    name : str
        TensorFlow's name of the kind.
    parts : Any
        What the file tells of it.
    count : int
        Of how many tensors such a value consists.

    """

    def __init__(self, name, parts, count):
        self.name, self.parts, self.count = name, parts, count

    def _parts(self):
        return self.name, repr(self.parts)

    def __repr__(self):
        return f"{self.name}({self.parts!r})"


def _shape(proto):
    return TensorShape(None if proto.unknown_rank else [None if dim.size == -1 else dim.size for dim in proto.dim])


def _tensor_spec(proto):
    return TensorSpec(_shape(proto.shape), as_dtype(proto.dtype), proto.name or None)


def _type_spec(proto):
    parts = decode(proto.type_state)
    if proto.type_spec_class == RAGGED and len(parts) >= 4:
        return RaggedTensorSpec(*parts[:4])
    if proto.type_spec_class == SPARSE and len(parts) >= 2:
        return SparseTensorSpec(*parts[:2])
    if proto.type_spec_class == VARIABLE and len(parts) >= 2:
        return TensorSpec(*parts[:2])
    return OtherSpec(proto.type_spec_class_name or f"TypeSpec{proto.type_spec_class}", parts,
                     proto.num_flat_components)


def _named_tuple(proto):
    names = [pair.key for pair in proto.values]
    try:
        kind = collections.namedtuple(proto.name if proto.name.isidentifier() else "Named", names)
    except (ValueError, TypeError) as error:
        raise DataLossError(None, None, f"A named tuple of a file cannot be: {error}") from None
    return kind(*[decode(pair.value) for pair in proto.values])


_READERS = {
    "none_value": lambda value: None,
    "tensor_shape_value": _shape,
    "tensor_dtype_value": as_dtype,
    "tensor_spec_value": _tensor_spec,
    "bounded_tensor_spec_value": _tensor_spec,
    "type_spec_value": _type_spec,
    "list_value": lambda value: [decode(one) for one in value.values],
    "tuple_value": lambda value: tuple(decode(one) for one in value.values),
    "dict_value": lambda value: {field.key: decode(field.value) for field in value.fields},
    "named_tuple_value": _named_tuple,
    "tensor_value": read_proto,
    "numpy_value": lambda value: read_proto(value).numpy(),
}


def decode(proto):
    """Return what a StructuredValue says, as Python's values and specs."""
    kind = proto.WhichOneof("kind")
    if kind is None:
        return None
    value = getattr(proto, kind)
    reader = _READERS.get(kind)
    try:
        return value if reader is None else reader(value)
    except (TypeError, KeyError, ValueError) as error:
        raise DataLossError(None, None, f"A structure of a file cannot be read: {error}") from None


def is_spec(value):
    """Return whether something stands for a tensor."""
    return isinstance(value, TypeSpec)


def leaves(structure):
    """Return the leaves of a structure in TensorFlow's order: dictionaries by their keys."""
    found, stack = [], [structure]
    while stack:
        value = stack.pop()
        if isinstance(value, (list, tuple)):
            stack.extend(reversed(value))
        elif isinstance(value, dict):
            stack.extend(value[key] for key in sorted(value, reverse=True))
        else:
            found.append(value)
    return found


def count_parts(spec):
    """Return of how many tensors a value of a spec consists."""
    if isinstance(spec, RaggedTensorSpec):
        return 1 + spec._ragged_rank
    if isinstance(spec, SparseTensorSpec):
        return 3
    return spec.count if isinstance(spec, OtherSpec) else 1


def pack(structure, values):
    """Return a structure with values in the place of specs; takes them from an iterator."""
    if isinstance(structure, dict):
        found = {key: pack(structure[key], values) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[pack(one, values) for one in structure])
    if isinstance(structure, (list, tuple)):
        return type(structure)(pack(one, values) for one in structure)
    return _compose(structure, values) if is_spec(structure) else structure


def _compose(spec, values):
    """Return the value of a spec, of as many tensors as it needs."""
    if isinstance(spec, RaggedTensorSpec):
        made, splits = next(values), [next(values) for _ in range(spec._ragged_rank)]
        for one in reversed(splits):
            made = from_row_splits(made, one)
        return made
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor(next(values), next(values), next(values))
    if isinstance(spec, OtherSpec):
        raise NotImplementedError(f"saved_model: results of {spec.name} are not supported; return tensors instead")
    return next(values)


def parts_of(value):
    """Return the tensors that a value consists of."""
    if isinstance(value, RaggedTensor):
        return [value.flat_values, *value.nested_row_splits]
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def take_plain(spec, value, converts):
    """Return a value as a tensor of a spec, or None if it is none of it."""
    if isinstance(value, TypeSpec) or value is None:
        return value if value is not None and spec.is_compatible_with(value) else None
    if not isinstance(value, (_C.Tensor, Variable)) and not getattr(type(value), "is_string_tensor", False):
        if not converts:
            return None
        try:
            value = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            return None
    dtype = as_dtype(value.dtype)
    if dtype is not spec.dtype or not spec.shape.is_compatible_with(tuple(value.shape)):
        return None
    return value if isinstance(value, Base) or not isinstance(value, _C.Tensor) else convert_to_tensor(value)


def fit(spec, value, converts, found):
    """Return whether a value fits a structure of specs and Python's values; its tensors join a list.

    Parameters
    ----------
    spec : Any
        The structure.
    value : Any
        The value.
    converts : bool
        Whether Python's numbers and arrays may become tensors.
    found : list
        Where tensors are put, in TensorFlow's order.

    """
    if isinstance(spec, dict):
        return isinstance(value, dict) and set(spec) == set(value) and all(
            fit(spec[key], value[key], converts, found) for key in sorted(spec))
    if isinstance(spec, (list, tuple)):
        return isinstance(value, (list, tuple)) and len(spec) == len(value) and all(
            fit(one, other, converts, found) for one, other in zip(spec, value))
    if isinstance(spec, TensorSpec):
        made = take_plain(spec, value, converts)
        if made is None:
            return False
        found.append(made)
        return True
    if is_spec(spec):
        if not spec.is_compatible_with(value):
            return False
        found.extend(parts_of(value))
        return True
    return _equals(spec, value)


def _equals(one, other):
    if isinstance(other, (_C.Tensor, TypeSpec)) or type(other).__module__ == "numpy":
        return False
    try:
        return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
    except (TypeError, ValueError):
        return False
