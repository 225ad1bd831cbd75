"""Models that may be quantized; Dragon makes them of floats."""
from dragon.vm.torchvision.models.quantization.googlenet import (googlenet, GoogLeNet_QuantizedWeights,  # noqa: F401
                                                                 QuantizableGoogLeNet)
from dragon.vm.torchvision.models.quantization.inception import (  # noqa: F401
    inception_v3, Inception_V3_QuantizedWeights, QuantizableInception3)
from dragon.vm.torchvision.models.quantization.mobilenet import (  # noqa: F401
    mobilenet_v2, MobileNet_V2_QuantizedWeights, mobilenet_v3_large, MobileNet_V3_Large_QuantizedWeights,
    QuantizableMobileNetV2, QuantizableMobileNetV3)
from dragon.vm.torchvision.models.quantization.resnet import (  # noqa: F401
    QuantizableResNet, resnet18, ResNet18_QuantizedWeights, resnet50, ResNet50_QuantizedWeights, resnext101_32x8d,
    ResNeXt101_32X8D_QuantizedWeights, resnext101_64x4d, ResNeXt101_64X4D_QuantizedWeights)
from dragon.vm.torchvision.models.quantization.shufflenetv2 import (  # noqa: F401
    QuantizableShuffleNetV2, shufflenet_v2_x0_5, ShuffleNet_V2_X0_5_QuantizedWeights, shufflenet_v2_x1_0,
    ShuffleNet_V2_X1_0_QuantizedWeights, shufflenet_v2_x1_5, ShuffleNet_V2_X1_5_QuantizedWeights, shufflenet_v2_x2_0,
    ShuffleNet_V2_X2_0_QuantizedWeights)
