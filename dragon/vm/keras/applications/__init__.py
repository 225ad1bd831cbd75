"""Networks that people know: their layers and names, without their trained numbers."""
import importlib

# Each module and the networks in it.
_MODULES = {
    "densenet": "DenseNet121 DenseNet169 DenseNet201",
    "efficientnet": " ".join(f"EfficientNetB{number}" for number in range(8)),
    "inception_v3": "InceptionV3", "mobilenet": "MobileNet", "mobilenet_v2": "MobileNetV2", "mobilenet_v3": "",
    "resnet": "ResNet50 ResNet101 ResNet152", "resnet50": "",
    "resnet_v2": "ResNet50V2 ResNet101V2 ResNet152V2",
    "vgg16": "VGG16", "vgg19": "VGG19", "xception": "Xception", "imagenet_utils": "",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_HOMES.update(dict.fromkeys(("MobileNetV3Large", "MobileNetV3Small"), "mobilenet_v3"))  # not the module's own names
_MISSING = frozenset("""
    ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge EfficientNetV2B0 EfficientNetV2B1
    EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M EfficientNetV2S InceptionResNetV2 NASNetLarge
    NASNetMobile convnext efficientnet_v2 inception_resnet_v2 nasnet
""".split())


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in _MISSING:
        raise AttributeError(f"keras.applications.{name} is not there yet in Dragon; there are {sorted(_HOMES)}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*_MODULES, *_HOMES})
