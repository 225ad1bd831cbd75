"""timm: several architectures, forward and backward."""
from report import finish, train  # first: it readies torchvision

import timm
import torch

# Name: options; what knows an image size is made for the small one.
SMALL = {"img_size": 64}
MODELS = {
    "resnet18": {}, "resnet26d": {}, "mobilenetv3_small_050": {}, "efficientnet_b0": {}, "vit_tiny_patch16_224": SMALL,
    "deit_tiny_patch16_224": SMALL, "convnext_atto": {}, "regnetx_002": {}, "densenet121": {}, "ghostnet_050": {},
    "swin_tiny_patch4_window7_224": {"img_size": 64, "window_size": 4}, "mixer_s32_224": SMALL, "resnext50_32x4d": {},
    "mobilevitv2_050": {}, "vgg11": {}, "dla34": {},
}
image = torch.linspace(-1, 1, 2 * 3 * 64 * 64, dtype=torch.float64).reshape(2, 3, 64, 64).sin()
for name, options in MODELS.items():
    train(name, lambda: timm.create_model(name, num_classes=10, **options),
          lambda model, dtype: model(image.to(dtype)))
finish()
