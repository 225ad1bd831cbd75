"""`tf.types.experimental`: names for annotations."""
import abc as _abc
import typing as _typing

from dragon.vm.shared.recording.concrete import ConcreteFunction  # noqa: F401
from dragon.vm.shared.recording.function import Function  # noqa: F401
from dragon.vm.shared.recording.trace_type import FunctionType, SupportsTracingProtocol, TraceType  # noqa: F401
from dragon.vm.shared.tensors.tensor import Tensor as _Tensor

TensorLike = _typing.Union[_Tensor, bool, int, float, complex, str, bytes, _typing.Sequence]
GenericFunction = PolymorphicFunction = Function
Callable = Function


class AtomicFunction(_abc.ABC):
    """What runs when a concrete function is called, with the tensors that its code reads besides its arguments."""

    @property
    @_abc.abstractmethod
    def function_type(self):
        """FunctionType: what the arguments and the results are."""

    @_abc.abstractmethod
    def call_with_captures(self, args, kwargs, captures):
        """Call it with arguments, and with others in the place of the tensors that its code reads."""
