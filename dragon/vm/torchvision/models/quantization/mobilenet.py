"""MobileNets that may be quantized."""
from dragon.vm.torchvision.models.quantization.mobilenetv2 import (  # noqa: F401
    mobilenet_v2, MobileNet_V2_QuantizedWeights, QuantizableMobileNetV2)
from dragon.vm.torchvision.models.quantization.mobilenetv3 import (  # noqa: F401
    mobilenet_v3_large, MobileNet_V3_Large_QuantizedWeights, QuantizableMobileNetV3)
