"""Names of types for annotations, as `torch.types`."""
import builtins
from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias, Union

from dragon.vm.guest import lookup
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.layout import layout
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor

_bool, _complex, _device, _dtype, _float, _int, _layout, _size, _str = (
    builtins.bool, builtins.complex, device, dtype, builtins.float, builtins.int, layout,
    Union[Size, list[builtins.int], tuple[builtins.int, ...]], builtins.str)
Device: TypeAlias = Union[device, builtins.str, builtins.int, None]
FileLike: TypeAlias = Union[builtins.str, PathLike, Any]
IntLikeType: TypeAlias = builtins.int
FloatLikeType: TypeAlias = builtins.float
BoolLikeType: TypeAlias = builtins.bool
Number: TypeAlias = Union[builtins.int, builtins.float, builtins.bool]
TensorOrTensors: TypeAlias = Union[Tensor, Sequence[Tensor]]


def __getattr__(name):
    if name == "Storage":
        from dragon.vm.torch.storage import UntypedStorage
        return UntypedStorage
    return _find(name)


_find, __dir__ = lookup(globals())
