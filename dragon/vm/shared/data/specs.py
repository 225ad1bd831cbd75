"""The description of a dataset's elements: specs of components, with and without the axis of the batch."""
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.structure import flatten, map_structure
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import NoneTensorSpec, TensorSpec, TypeSpec


class SpecOfElements(TypeSpec):
    """The spec of something that holds elements, which is told by theirs.

    Parameters
    ----------
    element_spec : Any
        The structure of specs of the elements.

    """

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value):
        """Return the spec of a value."""
        return cls(value.element_spec)

    def _parts(self):
        return (self._element_spec,)

    def __hash__(self):
        return hash((type(self), tuple(flatten(self._element_spec))))

    def __repr__(self):
        return f"{type(self).__name__}({self._element_spec!r})"


@known_as("tensorflow.data")
class DatasetSpec(SpecOfElements):
    """The spec of a dataset as a component of elements or an argument.

    Parameters
    ----------
    element_spec : Any
        The structure of specs of its elements.
    dataset_shape : Sequence[int], optional, default=()
        The shape of a tensor of datasets; only a scalar is of use.

    """

    def __init__(self, element_spec, dataset_shape=()):
        super().__init__(element_spec)
        self._dataset_shape = TensorShape(dataset_shape)

    element_spec = property(lambda self: self._element_spec, doc="The structure of specs of the elements.")

    def _make_up(self, size, number, text):
        """Return a dataset of made-up elements."""
        return kinds.Listed([kinds.make_element(self._element_spec, size, number, text)] * size, self._element_spec)

    value_type = property(lambda self: kinds.Dataset, doc="`tf.data.Dataset`.")

    def __repr__(self):
        return f"{type(self).__name__}({self._element_spec!r}, {self._dataset_shape!r})"


@known_as("tensorflow.data")
class IteratorSpec(SpecOfElements):
    """The spec of a `tf.data.Iterator`.

    Parameters
    ----------
    element_spec : Any
        The structure of specs of its elements.

    """

    value_type = property(lambda self: kinds.Iterator, doc="`tf.data.Iterator`.")


def spec_of(value):
    """Return the structure of specs of an element."""
    return map_structure(spec_of_component, value)


def spec_of_component(value):
    """Return the spec of a component."""
    if value is None:
        return NoneTensorSpec()
    if hasattr(type(value), "_type_spec"):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype)


def batch_spec(spec, size):
    """Return a structure of specs with an axis of `size` (None: any) in front."""
    def add(part):
        if type(part) is not TensorSpec:
            return part if type(part) is NoneTensorSpec else part._batch(size)
        shape = part.shape
        return TensorSpec(None if shape.rank is None else [size, *shape], part.dtype)
    return map_structure(add, spec)


def unbatch_spec(spec):
    """Return a structure of specs without their first axis."""
    def remove(part):
        if type(part) is not TensorSpec:
            return part if type(part) is NoneTensorSpec else part._unbatch()
        shape = part.shape
        return TensorSpec(None if shape.rank is None else list(shape)[1:], part.dtype)
    return map_structure(remove, spec)


def merge_shapes(first, second):
    """Return the most exact shape that both shapes agree with, as a list; None for an unknown rank."""
    first, second = TensorShape(first), TensorShape(second)
    if first.rank is None or second.rank is None or first.rank != second.rank:
        return None
    return [a if a == b else None for a, b in zip(first, second)]


def merge_specs(first, second, who):
    """Return the structure of specs that holds for elements of either of two datasets."""
    from dragon.vm.shared.data.structure import check_same
    check_same(first, second, who)

    def merge(one, other):
        if type(one) is not type(other) or getattr(one, "dtype", None) != getattr(other, "dtype", None):
            raise TypeError(f"{who}: the datasets have elements of different kinds. Received: {one} and {other}")
        return TensorSpec(merge_shapes(one.shape, other.shape), one.dtype) if type(one) is TensorSpec else one
    return map_structure(merge, first, second)
