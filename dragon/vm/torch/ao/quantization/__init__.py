"""Models of fewer bits: weights of 8 bits with inputs quantized at each call, observers, and rounding to learn with."""
from dragon.vm.guest import lookup
from dragon.vm.torch.ao.quantization.fake_quantize import (
    FakeQuantize, FakeQuantizeBase, FusedMovingAvgObsFakeQuantize, default_fake_quant, default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant, default_fused_wt_fake_quant, default_per_channel_weight_fake_quant,
    default_weight_fake_quant, disable_fake_quant, disable_observer, enable_fake_quant, enable_observer)
from dragon.vm.torch.ao.quantization.observer import (
    MinMaxObserver, MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver, NoopObserver, ObserverBase,
    PerChannelMinMaxObserver, PlaceholderObserver, RecordingObserver, UniformQuantizationObserverBase,
    default_debug_observer, default_dynamic_quant_observer, default_float_qparams_observer, default_observer,
    default_per_channel_weight_observer, default_placeholder_observer, default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127, weight_observer_range_neg_127_to_127)
from dragon.vm.torch.ao.quantization.qconfig import (
    QConfig, default_activation_only_qconfig, default_debug_qconfig, default_dynamic_qconfig,
    default_per_channel_qconfig, default_qat_qconfig, default_qconfig, default_weight_only_qconfig,
    float16_dynamic_qconfig, float16_static_qconfig, float_qparams_weight_only_qconfig, per_channel_dynamic_qconfig)
from dragon.vm.torch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper
from dragon.vm.torch.core.absent import fill

fill(globals(), "ao.quantization")
# The layers need what is above; who puts them into models is found when asked for.
__getattr__, __dir__ = lookup(globals(), {"ao.quantization._dynamic": "convert quantize_dynamic swap_module "
                                          "propagate_qconfig_ get_default_dynamic_quant_module_mappings "
                                          "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS"})
