"""Datasets of what a user's generator yields."""
from dragon.vm.shared.data.dataset import Dataset, UNKNOWN
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.data.structure import children, flatten, is_nested, map_structure, rebuild
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.type_spec import TypeSpec


def make_signature(types, shapes, signature):
    """Return the structure of specs that `from_generator` is told in one of two ways."""
    if signature is not None:
        if types is not None or shapes is not None:
            raise TypeError("from_generator: output_signature goes neither with output_types nor with output_shapes. "
                            f"Received: output_types={types!r}, output_shapes={shapes!r}")
        for spec in flatten(signature):
            if not isinstance(spec, TypeSpec):
                raise TypeError(f"from_generator: output_signature must hold tf.TypeSpec. Received: {spec!r}")
        return signature
    if types is None:
        raise TypeError("from_generator: either output_signature or output_types is needed. Received: neither")
    dtypes = map_structure(as_dtype, tuple(types) if isinstance(types, list) else types)
    if shapes is None:
        return map_structure(lambda dtype: TensorSpec(None, dtype), dtypes)
    return _with_shapes(dtypes, shapes)


def _with_shapes(dtypes, shapes):
    if not is_nested(dtypes):
        return TensorSpec(shapes, dtypes)
    if isinstance(dtypes, dict):
        return type(dtypes)((key, _with_shapes(dtype, shapes[key])) for key, dtype in dtypes.items())
    return rebuild(dtypes, [_with_shapes(*pair) for pair in zip(dtypes, shapes)])


class FromGenerator(Dataset):
    """The elements that a generator yields."""

    def __init__(self, generator, types=None, shapes=None, args=None, signature=None):
        super().__init__()
        if not callable(generator):
            raise TypeError(f"from_generator: the generator must be callable. Received: {generator!r}")
        self._generator = generator
        self._spec = (make_signature(types, shapes, signature),)
        self._args = tuple(convert_to_tensor(argument) for argument in args or ())

    def _iterate(self):
        spec = self.element_spec
        values = self._generator(*[argument.numpy() for argument in self._args])
        read = self._choose_reader(spec)
        for value in values:
            yield read(value, spec)

    def _choose_reader(self, spec):
        """Return the function that makes an element of what was yielded."""
        if type(spec) is tuple and all(type(part) is TensorSpec for part in spec):
            return _read_tuple
        return _read

    def _count(self):
        return UNKNOWN


def _read_tuple(value, specs):
    if not isinstance(value, (tuple, list)) or len(value) != len(specs):
        raise _wrong_form(value, specs)
    return tuple([_read_component(part, spec) for part, spec in zip(value, specs)])


def _read(value, spec):
    """Return what was yielded as an element of a spec; lists may stand for tuples."""
    if not is_nested(spec):
        return _read_component(value, spec)
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise _wrong_form(value, spec)
        return rebuild(spec, [_read(value[key], spec[key]) for key in sorted(spec)])
    parts = list(value) if isinstance(value, (tuple, list)) else children(value) if is_nested(value) else None
    if parts is None or len(parts) != len(children(spec)):
        raise _wrong_form(value, spec)
    return rebuild(spec, [_read(*pair) for pair in zip(parts, children(spec))])


def _wrong_form(value, spec):
    return TypeError("from_generator: `generator` yielded an element that did not match the expected structure. The "
                     f"expected structure was {spec}. Received: {value!r}")


def _read_component(value, spec):
    if type(spec) is not TensorSpec:
        return value
    try:
        if hasattr(value, "dtype") and type(value) is not Tensor and spec.dtype.name != "string":
            tensor = convert_to_tensor(value)
            tensor = tensor if tensor.dtype == spec.dtype else _cast(value, tensor, spec)
        else:
            tensor = convert_to_tensor(value, dtype=spec.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError("from_generator: `generator` yielded an element that could not be converted to the expected "
                        f"type. The expected type was {spec.dtype.name}. Received: {value!r}") from error
    if not spec.shape.is_compatible_with(TensorShape(tensor.shape)):
        raise TypeError(f"from_generator: `generator` yielded an element of shape {tuple(tensor.shape)} where an "
                        f"element of shape {spec.shape} was expected.")
    return tensor


def _cast(value, tensor, spec):
    """Return an array in the dtype of the spec, as NumPy would cast it."""
    from dragon.vm.shared.tensors.tensor import ops
    if isinstance(value, Tensor):
        raise ValueError(f"Tensor conversion requested dtype {spec.dtype.name} for Tensor with dtype "
                         f"{value.dtype.name}: {value!r}")
    return ops.cast(tensor, spec.dtype)
