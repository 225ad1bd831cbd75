"""`tf.types.experimental`: names for annotations."""
import typing as _typing

from dragon.vm.tensorflow.core.function import ConcreteFunction, Function  # noqa: F401
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr
from dragon.vm.tensorflow.core.tensor import Tensor as _Tensor

TensorLike = _typing.Union[_Tensor, bool, int, float, complex, str, bytes, _typing.Sequence]
GenericFunction = PolymorphicFunction = Function
Callable = Function
__getattr__ = _module_getattr("tensorflow.types.experimental", globals())
