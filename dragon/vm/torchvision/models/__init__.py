"""Models, and their checkpoints by name."""
from dragon.vm.torchvision.models._api import (get_model, get_model_builder, get_model_weights,  # noqa: F401
                                               get_weight, list_models, Weights, WeightsEnum)
from dragon.vm.torchvision.models import (alexnet as _alexnet, convnext as _convnext, densenet as _densenet,
                                          efficientnet as _efficientnet, googlenet as _googlenet,
                                          inception as _inception, maxvit as _maxvit, mnasnet as _mnasnet,
                                          mobilenetv2 as _mobilenetv2, mobilenetv3 as _mobilenetv3,
                                          regnet as _regnet, resnet as _resnet,
                                          shufflenetv2 as _shufflenetv2, squeezenet as _squeezenet,
                                          swin_transformer as _swin, vgg as _vgg, vision_transformer as _vit)

_MAIN = ("AlexNet ConvNeXt DenseNet EfficientNet GoogLeNet GoogLeNetOutputs _GoogLeNetOutputs Inception3 "
         "InceptionOutputs _InceptionOutputs MaxVit MNASNet MobileNetV2 MobileNetV3 RegNet ResNet ShuffleNetV2 "
         "SqueezeNet SwinTransformer VGG VisionTransformer").split()


def _public(module):
    return {name: value for name, value in vars(module).items()
            if name in _MAIN or name.endswith("_Weights") or getattr(value, "__signature__", None) is not None}


# A function may bear the name of its module: functions win, as in torchvision.
for _module in (_alexnet, _convnext, _densenet, _efficientnet, _googlenet, _inception, _maxvit, _mnasnet,
                _mobilenetv2, _mobilenetv3, _regnet, _resnet, _shufflenetv2, _squeezenet, _swin, _vgg, _vit):
    globals().update(_public(_module))
from dragon.vm.torchvision.models import (  # noqa: E402, F401
    detection, mobilenet, optical_flow, quantization, segmentation, video)
