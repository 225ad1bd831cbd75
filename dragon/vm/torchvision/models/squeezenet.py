"""SqueezeNet."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define

nn = torch.nn


class Fire(nn.Module):
    """Squeeze to few channels, then expand by convolutions of 1 and of 3."""

    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return torch.cat([self.expand1x1_activation(self.expand1x1(x)),
                          self.expand3x3_activation(self.expand3x3(x))], 1)


# The first convolution's width and kernel, and before which of the eight blocks a pooling stands.
_VERSIONS = {"1_0": (96, 7, (0, 3, 7)), "1_1": (64, 3, (0, 2, 4))}


class SqueezeNet(nn.Module):
    """SqueezeNet in one of its versions.

    Parameters
    ----------
    version : str, optional, default="1_0"
        "1_0" or "1_1".

    """

    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        self.num_classes = num_classes
        if version not in _VERSIONS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        width, kernel, pools = _VERSIONS[version]
        layers = [nn.Conv2d(3, width, kernel_size=kernel, stride=2), nn.ReLU(inplace=True)]
        for index, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192),
                                                   (64, 256), (64, 256))):
            if index in pools:
                layers.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
            layers.append(Fire(width, squeeze, expand, expand))
            width = 2 * expand
        self.features = nn.Sequential(*layers)
        last = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), last, nn.ReLU(inplace=True),
                                        nn.AdaptiveAvgPool2d((1, 1)))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


for _version in _VERSIONS:
    define(globals(), f"squeezenet{_version}", f"SqueezeNet{_version}", partial(SqueezeNet, _version))
