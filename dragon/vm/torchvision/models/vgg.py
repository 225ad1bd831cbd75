"""Plain stacks of small convolutions."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import fan_out, initialize, small

nn = torch.nn


class VGG(nn.Module):
    """A stack of convolutions and three linear layers.

    Parameters
    ----------
    features : Module
        The convolutions.
    dropout : float, optional, default=0.5
        The probability of zeroing between linear layers.

    """

    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(p=dropout),
                                        nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(p=dropout),
                                        nn.Linear(4096, num_classes))
        if init_weights:
            initialize(self, fan_out, small)

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def make_layers(cfg, batch_norm=False):
    """Return convolutions of the widths listed, with pooling where "M" stands."""
    layers, width = [], 3
    for item in cfg:
        if item == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(width, item, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2d(item)] if batch_norm else []
        layers.append(nn.ReLU(inplace=True))
        width = item
    return nn.Sequential(*layers)


def _widths(repeats):
    return [item for width, count in zip((64, 128, 256, 512, 512), repeats) for item in (*[width] * count, "M")]


cfgs = {"A": _widths((1, 1, 2, 2, 2)), "B": _widths((2, 2, 2, 2, 2)), "D": _widths((2, 2, 3, 3, 3)),
        "E": _widths((2, 2, 4, 4, 4))}


def _make(cfg, batch_norm, **kwargs):
    return VGG(make_layers(cfgs[cfg], batch_norm=batch_norm), **kwargs)


def _prepare(kwargs, weights):
    kwargs["init_weights"] = False


for _depth, _cfg in ((11, "A"), (13, "B"), (16, "D"), (19, "E")):
    define(globals(), f"vgg{_depth}", f"VGG{_depth}", partial(_make, _cfg, False), _prepare)
    define(globals(), f"vgg{_depth}_bn", f"VGG{_depth}_BN", partial(_make, _cfg, True), _prepare)
