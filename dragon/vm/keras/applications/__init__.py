"""Networks that people know: their layers and names, without their trained numbers."""
import importlib

# Each module and the networks in it.
_MODULES = {
    "convnext": "ConvNeXtTiny ConvNeXtSmall ConvNeXtBase ConvNeXtLarge ConvNeXtXLarge",
    "densenet": "DenseNet121 DenseNet169 DenseNet201",
    "efficientnet": " ".join(f"EfficientNetB{number}" for number in range(8)),
    "efficientnet_v2": " ".join(f"EfficientNetV2{kind}" for kind in ("B0", "B1", "B2", "B3", "S", "M", "L")),
    "inception_resnet_v2": "InceptionResNetV2",
    "inception_v3": "InceptionV3", "mobilenet": "MobileNet", "mobilenet_v2": "MobileNetV2", "mobilenet_v3": "",
    "nasnet": "NASNetMobile NASNetLarge",
    "resnet": "ResNet50 ResNet101 ResNet152", "resnet50": "",
    "resnet_v2": "ResNet50V2 ResNet101V2 ResNet152V2",
    "vgg16": "VGG16", "vgg19": "VGG19", "xception": "Xception", "imagenet_utils": "",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_HOMES.update(dict.fromkeys(("MobileNetV3Large", "MobileNetV3Small"), "mobilenet_v3"))  # not the module's own names


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*_MODULES, *_HOMES})
