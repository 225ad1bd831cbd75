"""The former place of `torch.ao.quantization`."""
from dragon.vm.torch.ao.quantization import (
    DeQuantStub, FakeQuantize, FakeQuantizeBase, HistogramObserver, MinMaxObserver, MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver, NoopObserver, ObserverBase, PerChannelMinMaxObserver, PlaceholderObserver,
    QConfig, QuantStub, QuantWrapper, RecordingObserver, convert, default_debug_observer, default_dynamic_qconfig,
    default_fake_quant, default_observer, default_per_channel_weight_fake_quant, default_per_channel_weight_observer,
    default_qat_qconfig, default_qconfig, default_weight_fake_quant, default_weight_observer, disable_fake_quant,
    disable_observer, enable_fake_quant, enable_observer, float16_dynamic_qconfig, fuse_modules,
    get_default_qat_qconfig, get_default_qconfig, prepare, prepare_qat, propagate_qconfig_, quantize,
    quantize_dynamic, quantize_qat, swap_module)
