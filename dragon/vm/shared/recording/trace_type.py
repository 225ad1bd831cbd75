"""`tf.types.experimental.TraceType`: which arguments of a class of the user's one trace of a function serves."""
import abc
import inspect
import typing

from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.type_spec import TypeSpec


@known_as("tensorflow.types.experimental")
class TraceType(metaclass=abc.ABCMeta):
    """What an object's method `__tf_tracing_type__` tells of it. Objects whose types are subtypes share a trace."""

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """Return whether a trace for the other type serves this one."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """Return the type that covers this one and others, or None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context):
        """Return what the function is called with in the place of an object of this type."""

    def to_tensors(self, value):
        """Return the tensors of an object."""
        return []

    def from_tensors(self, tensors):
        """Return the object that tensors tell."""
        return self.placeholder_value(None)

    def flatten(self):
        """Return the specs of the tensors of an object."""
        return []

    def cast(self, value, cast_context):
        """Return an object as one of this type."""
        return value

    @abc.abstractmethod
    def __hash__(self):
        pass

    @abc.abstractmethod
    def __eq__(self, other):
        pass


TraceType.register(TypeSpec)


@typing.runtime_checkable
class SupportsTracingProtocol(typing.Protocol):
    """Whatever tells how it is traced."""

    def __tf_tracing_type__(self, context):
        """Return a `TraceType`."""


@known_as("tensorflow.types.experimental")
class FunctionType(inspect.Signature):
    """The parameters of a function, and what they are."""


class Stand:
    """Objects that stand for others of their type in the calls of one function."""

    def __init__(self):
        self._known = []  # (type, what the function is called with)

    def __call__(self, value):
        """Return what the function is called with in the place of a value."""
        ask = getattr(type(value), "__tf_tracing_type__", None)
        if ask is None or isinstance(value, type):
            return value
        kind = ask(value, None)
        for known, placeholder in self._known:
            if kind == known or kind.is_subtype_of(known):
                return placeholder
        placeholder = kind.placeholder_value(None)
        self._known.append((kind, placeholder))
        return placeholder
