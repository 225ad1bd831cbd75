"""`tf.experimental.Optional`: an element that may be missing."""
from dragon.vm.shared import errors
from dragon.vm.shared.data.specs import SpecOfElements, spec_of
from dragon.vm.shared.data.structure import to_element
from dragon.vm.shared.naming import known_as


class OptionalSpec(SpecOfElements):
    """The spec of an optional.

    Parameters
    ----------
    element_spec : Any
        The structure of specs of its value.

    """

    value_type = property(lambda self: Optional, doc="`tf.experimental.Optional`.")


@known_as("tensorflow.data.experimental")
class Optional:
    """An element or its absence."""

    def __init__(self, element_spec, *value):
        self._element_spec, self._value = element_spec, value

    @staticmethod
    def empty(element_spec):
        """Return an optional without a value."""
        return Optional(element_spec)

    @staticmethod
    def from_value(value):
        """Return an optional that has a value."""
        element = to_element(value)
        return Optional(spec_of(element), element)

    element_spec = property(lambda self: self._element_spec, doc="The structure of specs of the value.")

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def has_value(self, name=None):
        """Return whether there is a value, as a tensor."""
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        return convert_to_tensor(bool(self._value))

    def get_value(self, name=None):
        """Return the value, or raise."""
        if not self._value:
            raise errors.InvalidArgumentError(None, None, "get_value: the optional has no value.")
        return self._value[0]

    def __repr__(self):
        return f"tf.experimental.Optional(element_spec={self._element_spec}, has_value={bool(self._value)})"
