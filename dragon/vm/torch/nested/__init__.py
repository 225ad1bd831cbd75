"""`torch.nested`: batches whose samples differ in size."""
from dragon.vm.guest import lookup
from dragon.vm.torch.core.nested.face import padded as to_padded_tensor
from dragon.vm.torch.core.nested.making import (as_nested_tensor, masked_select, narrow, nested_tensor,
                                                nested_tensor_from_jagged)

__getattr__, __dir__ = lookup(globals())
