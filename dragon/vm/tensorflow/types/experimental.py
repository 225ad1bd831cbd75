"""`tf.types.experimental`: names for annotations."""
import typing as _typing

from dragon.vm.shared.recording.concrete import ConcreteFunction  # noqa: F401
from dragon.vm.shared.recording.function import Function  # noqa: F401
from dragon.vm.shared.recording.trace_type import FunctionType, SupportsTracingProtocol, TraceType  # noqa: F401
from dragon.vm.shared.tensors.tensor import Tensor as _Tensor

TensorLike = _typing.Union[_Tensor, bool, int, float, complex, str, bytes, _typing.Sequence]
GenericFunction = PolymorphicFunction = Function
Callable = Function
