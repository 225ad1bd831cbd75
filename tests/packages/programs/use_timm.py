"""timm: several architectures, forward and backward."""
from report import finish, train  # first: it readies torchvision

import timm
import torch

MODELS = {
    "resnet18": 64, "resnet26d": 64, "mobilenetv3_small_050": 64, "efficientnet_b0": 64, "vit_tiny_patch16_224": 224,
    "deit_tiny_patch16_224": 224, "convnext_atto": 64, "regnetx_002": 64, "densenet121": 64,
    "swin_tiny_patch4_window7_224": 224, "mixer_s32_224": 224, "resnext50_32x4d": 64, "ghostnet_050": 64,
    "mobilevitv2_050": 64, "vgg11": 64, "dla34": 64,
}
for name, size in MODELS.items():
    image = torch.linspace(-1, 1, 2 * 3 * size * size, dtype=torch.float64).reshape(2, 3, size, size).sin()
    train(name, lambda: timm.create_model(name, num_classes=10), lambda model, dtype: model(image.to(dtype)))
finish()
