"""Quantized tensors in files, other processes and deep copies."""
import collections

from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.quantized.parts import (WHOLE, QuantizedTensor, axis_of, integers_of, is_quantized,
                                                  kind_of, make, parts_of, rule, scheme_of)
from dragon.vm.torch.core.quantized.rebuilding import _rebuild_qtensor
from dragon.vm.torch.core.quantized.properties import packed
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.storage import TypedStorage


def reduce(self, proto):
    """Return (function, arguments) that make the tensor anew."""
    if kind_of(self) == "quint4x2":
        raise NotImplementedError("save: got a tensor of torch.quint4x2, expected torch.qint8, torch.quint8 or "
                                  "torch.qint32")
    scale, zero_point, integers = parts_of(self)
    told = (scale.item(), zero_point.item()) if scheme_of(self) == WHOLE else (scale, zero_point, axis_of(self))
    return _rebuild_qtensor, (storage_of(self), integers.storage_offset(), tuple(integers.shape),
                              tuple(integers.stride()), (getattr(layouts, scheme_of(self)), *told), False,
                              collections.OrderedDict())


@rule("storage", "_typed_storage")
def storage_of(self):
    """Return the memory of the integers, as elements of the quantized dtype."""
    if kind_of(self) == "quint4x2":
        return packed(integers_of(self)).untyped_storage()
    return TypedStorage(wrap_storage=integers_of(self).untyped_storage(), dtype=self.dtype)


def deep_copy(self, memo):
    """Return a copy of all parts."""
    if id(self) not in memo:
        memo[id(self)] = make(ops.clone(integers_of(self)), kind_of(self), scheme_of(self),
                              *map(ops.clone, parts_of(self)[:2]), axis_of(self))
    return memo[id(self)]


QuantizedTensor.__reduce_ex__ = reduce
QuantizedTensor.__deepcopy__ = deep_copy
rule("_reduce_ex_internal")(reduce)
rule("is_shared")(lambda self: is_quantized(self) and integers_of(self).is_shared())
