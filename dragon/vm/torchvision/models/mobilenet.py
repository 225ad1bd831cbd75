"""MobileNets of both versions."""
from dragon.vm.torchvision.models.mobilenetv2 import (mobilenet_v2, MobileNet_V2_Weights, MobileNetV2)  # noqa: F401
from dragon.vm.torchvision.models.mobilenetv3 import (mobilenet_v3_large, MobileNet_V3_Large_Weights,  # noqa: F401
                                                      mobilenet_v3_small, MobileNet_V3_Small_Weights, MobileNetV3)
