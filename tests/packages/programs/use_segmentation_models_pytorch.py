"""segmentation-models-pytorch: encoders with decoders, and losses."""
from report import finish, note, train  # first: it readies torchvision

import segmentation_models_pytorch as smp
import torch

image = torch.linspace(-1, 1, 2 * 3 * 64 * 64, dtype=torch.float64).reshape(2, 3, 64, 64).sin()
for name in ("Unet", "FPN", "PSPNet", "DeepLabV3Plus", "Linknet"):
    train(name, lambda: getattr(smp, name)("resnet18", encoder_weights=None, classes=2).eval(),
          lambda model, dtype: model(image.to(dtype)))
scores, target = image[:, :2], (image[:, 2] > 0).long()
for loss in (smp.losses.DiceLoss("multiclass"), smp.losses.JaccardLoss("multiclass"),
             smp.losses.FocalLoss("multiclass")):
    note(type(loss).__name__, loss(scores, target))
finish()
