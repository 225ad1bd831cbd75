"""Models that name every pixel of images."""
from dragon.vm.torchvision.models.segmentation.deeplabv3 import (  # noqa: F401
    DeepLabV3, deeplabv3_mobilenet_v3_large, DeepLabV3_MobileNet_V3_Large_Weights, deeplabv3_resnet50,
    deeplabv3_resnet101, DeepLabV3_ResNet101_Weights, DeepLabV3_ResNet50_Weights)
from dragon.vm.torchvision.models.segmentation.fcn import (FCN, fcn_resnet50, fcn_resnet101,  # noqa: F401
                                                           FCN_ResNet101_Weights, FCN_ResNet50_Weights)
from dragon.vm.torchvision.models.segmentation.lraspp import (LRASPP, lraspp_mobilenet_v3_large,  # noqa: F401
                                                              LRASPP_MobileNet_V3_Large_Weights)
