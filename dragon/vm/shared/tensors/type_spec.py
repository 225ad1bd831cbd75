"""Descriptions of tensors that are not there yet: `tf.TensorSpec` and its kin."""
from dragon import _C
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Base, Tensor


@known_as("tensorflow")
class TypeSpec:
    """The description of a value; subclasses say of which kind."""

    @property
    def value_type(self):
        """type: the class of such values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _parts(self):
        """Return all that makes the spec what it is."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it is made of.")

    def is_compatible_with(self, spec_or_value):
        """Return whether a value, or one that another spec describes, may be such a one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(other) is type(self) and self._parts() == other._parts()

    def is_subtype_of(self, other):
        """Return whether all values of this spec are of the other as well."""
        return self == other

    def most_specific_compatible_type(self, other):
        """Return the narrowest spec of which the values of both are."""
        if type(other) is not type(self):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def most_specific_common_supertype(self, others):
        """Return the narrowest spec of which the values of all are, or None."""
        return self if all(self == other for other in others) else None

    def __eq__(self, other):
        return type(other) is type(self) and self._parts() == other._parts()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), self._parts()))

    def __reduce__(self):
        return type(self), self._parts()


@known_as("tensorflow")
class TensorSpec(TypeSpec):
    """The description of a tensor.

    Parameters
    ----------
    shape : Union[TensorShape, Sequence[Optional[int]], None]
        The sizes; None where one, or even their number, is not known.
    dtype : DType, optional, default=float32
        The dtype.
    name : str, optional
        What the tensor is called.

    Examples
    --------
    >>> spec = tf.TensorSpec((None, 3), tf.float32)
    >>> spec.shape, spec.dtype
    (TensorShape([None, 3]), tf.float32)
    >>> spec.is_compatible_with(tf.zeros((5, 3)))
    True

    """

    def __init__(self, shape, dtype=float32, name=None):
        self._shape, self._dtype, self._name = TensorShape(shape), as_dtype(dtype), name

    shape = property(lambda self: self._shape, doc="TensorShape: the sizes.")
    dtype = property(lambda self: self._dtype, doc="DType: the dtype.")
    name = property(lambda self: self._name, doc="Optional[str]: what the tensor is called.")
    value_type = property(lambda self: Tensor, doc="type: the class of such values.")

    @classmethod
    def from_spec(cls, spec, name=None):
        """Return the spec of the same shape and dtype under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """Return the spec of a tensor."""
        if not hasattr(tensor, "shape") or not hasattr(tensor, "dtype"):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor):
        """Return whether a tensor, or one that another spec describes, has this dtype and may have this shape."""
        if not hasattr(spec_or_tensor, "shape") or not hasattr(spec_or_tensor, "dtype"):
            return False
        if not isinstance(spec_or_tensor, (TensorSpec, _C.Tensor)) and not isinstance(spec_or_tensor, Tensor):
            return False
        return self._dtype == spec_or_tensor.dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def is_subtype_of(self, other):
        """Return whether all tensors of this spec are of the other as well."""
        return (type(other) is type(self) and self._dtype is other._dtype and self._shape.is_subtype_of(other._shape)
                and (other._name is None or self._name == other._name))

    def most_specific_common_supertype(self, others):
        """Return the narrowest spec of which the tensors of all are, or None."""
        shape = self._shape
        for other in others:
            if type(other) is not type(self) or other._dtype is not self._dtype:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        names = {self._name, *(other._name for other in others)}
        return type(self)(shape, self._dtype, self._name if len(names) == 1 else None)

    def _parts(self):
        return self._shape, self._dtype, self._name

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"{type(self).__name__}(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


@known_as("tensorflow")
class NoneTensorSpec(TypeSpec):
    """The spec of None."""

    value_type = property(lambda self: type(None), doc="type: the class of None.")

    def _parts(self):
        return ()

    def __repr__(self):
        return "NoneTensorSpec()"


def type_spec_from_value(value):
    """Return the spec that describes a value.

    Parameters
    ----------
    value : Any
        A tensor, a variable, None, or anything that becomes a tensor.

    Returns
    -------
    TypeSpec
        Of its kind.

    """
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, (Base, Tensor)):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, _C.Tensor):
        return TensorSpec(tuple(value.shape), value.dtype)
    if value is None:
        return NoneTensorSpec()
    for name in ("_type_spec", "element_spec_of_self"):
        spec = getattr(value, name, None)
        if isinstance(spec, TypeSpec):
            return spec
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    try:
        made = convert_to_tensor(value)
    except (ValueError, TypeError):
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}.") from None
    return TensorSpec(made.shape, made.dtype)
