"""vit-pytorch: vision transformers."""
from report import finish, train  # first: it readies torchvision

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT

image = torch.linspace(-1, 1, 2 * 3 * 32 * 32, dtype=torch.float64).reshape(2, 3, 32, 32).sin()
SIZES = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "depth": 2, "heads": 4, "mlp_dim": 64}
train("vit", lambda: ViT(**SIZES), lambda model, dtype: model(image.to(dtype)))
train("simple", lambda: SimpleViT(**SIZES).eval(), lambda model, dtype: model(image.to(torch.float32).to(dtype)))
train("cct", lambda: CCT(img_size=32, embedding_dim=32, n_conv_layers=1, num_layers=2, num_heads=4, mlp_ratio=2,
                         num_classes=5).eval(), lambda model, dtype: model(image.to(dtype)))
finish()
