"""How a module is quantized: what looks at its results, and what at its weights."""
import collections

from dragon.vm import torch
from dragon.vm.torch.ao.quantization.fake_quantize import (default_fake_quant,
                                                           default_weight_fake_quant)
from dragon.vm.torch.ao.quantization.observer import (PlaceholderObserver, default_debug_observer,
                                                      default_dynamic_quant_observer, default_float_qparams_observer,
                                                      default_observer, default_per_channel_weight_observer,
                                                      default_placeholder_observer, default_weight_observer)
from dragon.vm.torch.nn.modules.linear import Identity
from dragon.vm.torch.nn.modules.module import Module


class QConfig(collections.namedtuple("QConfig", ["activation", "weight"])):
    """How a module is quantized.

    Parameters
    ----------
    activation, weight : Callable
        Make observers, or modules that round: classes, or what `with_args` gives.

    """

    __slots__ = ()

    def __new__(cls, activation, weight):
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError("QConfig received observer instance, please pass observer class instead. Use "
                             "MyObserver.with_args(x=1) to override arguments to constructor if needed")
        return super().__new__(cls, activation, weight)


default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(PlaceholderObserver.with_args(dtype=torch.float16, is_dynamic=True),
                                  PlaceholderObserver.with_args(dtype=torch.float16))
float16_static_qconfig = QConfig(PlaceholderObserver.with_args(dtype=torch.float16),
                                 PlaceholderObserver.with_args(dtype=torch.float16))
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)
