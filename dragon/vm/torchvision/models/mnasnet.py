"""MNASNet."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import fan_out, initialize

nn = torch.nn
_BN_MOMENTUM = 1 - 0.9997


class _InvertedResidual(nn.Module):
    def __init__(self, in_ch, out_ch, kernel_size, stride, expansion_factor, bn_momentum=0.1):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        if kernel_size not in (3, 5):
            raise ValueError(f"kernel_size should be 3 or 5 instead of {kernel_size}")
        wide, norm = in_ch * expansion_factor, partial(nn.BatchNorm2d, momentum=bn_momentum)
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            nn.Conv2d(in_ch, wide, 1, bias=False), norm(wide), nn.ReLU(inplace=True),
            nn.Conv2d(wide, wide, kernel_size, padding=kernel_size // 2, stride=stride, groups=wide, bias=False),
            norm(wide), nn.ReLU(inplace=True), nn.Conv2d(wide, out_ch, 1, bias=False), norm(out_ch))

    def forward(self, input):
        return self.layers(input) + input if self.apply_residual else self.layers(input)


def _stack(in_ch, out_ch, kernel_size, stride, exp_factor, repeats, bn_momentum=_BN_MOMENTUM):
    if repeats < 1:
        raise ValueError(f"repeats should be >= 1, instead got {repeats}")
    return nn.Sequential(*(_InvertedResidual(out_ch if index else in_ch, out_ch, kernel_size, 1 if index else stride,
                                             exp_factor, bn_momentum=bn_momentum) for index in range(repeats)))


def _round_to_multiple_of(val, divisor, round_up_bias=0.9):
    if not 0.0 < round_up_bias < 1.0:
        raise ValueError(f"round_up_bias should be greater than 0.0 and smaller than 1.0 instead of {round_up_bias}")
    near = max(divisor, int(val + divisor / 2) // divisor * divisor)
    return near if near >= round_up_bias * val else near + divisor


def _get_depths(alpha):
    return [_round_to_multiple_of(depth * alpha, 8) for depth in (32, 16, 24, 40, 80, 96, 192, 320)]


def _by_outputs(module):
    nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
    nn.init.zeros_(module.bias)


class MNASNet(nn.Module):
    """MNASNet.

    Parameters
    ----------
    alpha : float
        Multiplies the channels.

    """

    _version = 2

    def __init__(self, alpha, num_classes=1000, dropout=0.2):
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha, self.num_classes = alpha, num_classes
        depths, norm = _get_depths(alpha), partial(nn.BatchNorm2d, momentum=_BN_MOMENTUM)
        layers = [nn.Conv2d(3, depths[0], 3, padding=1, stride=2, bias=False), norm(depths[0]), nn.ReLU(inplace=True),
                  nn.Conv2d(depths[0], depths[0], 3, padding=1, stride=1, groups=depths[0], bias=False),
                  norm(depths[0]), nn.ReLU(inplace=True),
                  nn.Conv2d(depths[0], depths[1], 1, padding=0, stride=1, bias=False), norm(depths[1])]
        for index, setting in enumerate(((3, 2, 3, 3), (5, 2, 3, 3), (5, 2, 6, 3), (3, 1, 6, 2), (5, 2, 6, 4),
                                         (3, 1, 6, 1))):
            layers.append(_stack(depths[index + 1], depths[index + 2], *setting))
        layers += [nn.Conv2d(depths[7], 1280, 1, padding=0, stride=1, bias=False), norm(1280), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes))
        initialize(self, fan_out, _by_outputs, norms=(nn.BatchNorm2d,))

    def forward(self, x):
        return self.classifier(self.layers(x).mean([2, 3]))

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        version = local_metadata.get("version", None)
        if version not in (1, 2):
            raise ValueError(f"version should be set to 1 or 2 instead of {version}")
        if version == 1 and self.alpha != 1.0:
            raise NotImplementedError("MNASNet: got a checkpoint of version 1 with alpha other than 1, whose first "
                                      "layers are wider; expected one of version 2")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


for _alpha in (0.5, 0.75, 1.0, 1.3):
    _name = str(_alpha).replace(".", "_")
    define(globals(), f"mnasnet{_name}", f"MNASNet{_name}", partial(MNASNet, _alpha))
