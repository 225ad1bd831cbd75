"""Networks that people know: their layers and names, without their trained numbers."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals(), {
    ".convnext": "ConvNeXtTiny ConvNeXtSmall ConvNeXtBase ConvNeXtLarge ConvNeXtXLarge",
    ".densenet": "DenseNet121 DenseNet169 DenseNet201",
    ".efficientnet": "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 "
                     "EfficientNetB6 EfficientNetB7",
    ".efficientnet_v2": "EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2S "
                        "EfficientNetV2M EfficientNetV2L",
    ".inception_resnet_v2": "InceptionResNetV2",
    ".inception_v3": "InceptionV3",
    ".mobilenet": "MobileNet",
    ".mobilenet_v2": "MobileNetV2",
    ".mobilenet_v3": "MobileNetV3Large MobileNetV3Small",
    ".nasnet": "NASNetMobile NASNetLarge",
    ".resnet": "ResNet50 ResNet101 ResNet152",
    ".resnet_v2": "ResNet50V2 ResNet101V2 ResNet152V2",
    ".vgg16": "VGG16",
    ".vgg19": "VGG19",
    ".xception": "Xception",
})
