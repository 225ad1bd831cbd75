"""Pyramids of features: coarse levels added into finer ones."""
from collections import OrderedDict

from dragon.vm import torch
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation

nn = torch.nn


class ExtraFPNBlock(nn.Module):
    """The base of blocks that make further levels of a pyramid."""

    def forward(self, results, x, names):
        raise NotImplementedError(f"{type(self).__name__}: has no forward")


class FeaturePyramidNetwork(nn.Module):
    """Add coarse levels into finer ones.

    Parameters
    ----------
    in_channels_list : List[int]
        The channels of each level.
    out_channels : int
        The channels of all levels that come out.
    extra_blocks : ExtraFPNBlock, optional
        Makes further levels.
    norm_layer : Callable, optional
        Normalizes after each convolution.

    """

    _version = 2

    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.inner_blocks, self.layer_blocks = nn.ModuleList(), nn.ModuleList()
        for in_channels in in_channels_list:
            if in_channels == 0:
                raise ValueError("in_channels=0 is currently not supported")
            self.inner_blocks.append(Conv2dNormActivation(in_channels, out_channels, kernel_size=1, padding=0,
                                                          norm_layer=norm_layer, activation_layer=None))
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, kernel_size=3,
                                                          norm_layer=norm_layer, activation_layer=None))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        self.extra_blocks = extra_blocks

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        if (local_metadata.get("version") or 1) < 2:
            for block in ("inner_blocks", "layer_blocks"):
                for index in range(len(self.inner_blocks)):
                    for kind in ("weight", "bias"):
                        old = f"{prefix}{block}.{index}.{kind}"
                        if old in state_dict:
                            state_dict[f"{prefix}{block}.{index}.0.{kind}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def forward(self, x):
        names, levels = list(x.keys()), list(x.values())
        above = self.inner_blocks[-1](levels[-1])
        results = [self.layer_blocks[-1](above)]
        for index in range(len(levels) - 2, -1, -1):
            lateral = self.inner_blocks[index](levels[index])
            above = lateral + nn.functional.interpolate(above, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[index](above))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, levels, names)
        return OrderedDict(zip(names, results))


class LastLevelMaxPool(ExtraFPNBlock):
    """Add a level of every second pixel."""

    def forward(self, x, y, names):
        names.append("pool")
        x.append(nn.functional.max_pool2d(x[-1], kernel_size=1, stride=2, padding=0))
        return x, names


class LastLevelP6P7(ExtraFPNBlock):
    """Add two levels by strided convolutions.

    Parameters
    ----------
    in_channels, out_channels : int
        The channels.

    """

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            nn.init.kaiming_uniform_(module.weight, a=1)
            nn.init.constant_(module.bias, 0)
        self.use_P5 = in_channels == out_channels

    def forward(self, p, c, names):
        p6 = self.p6(p[-1] if self.use_P5 else c[-1])
        p7 = self.p7(nn.functional.relu(p6))
        return [*p, p6, p7], [*names, "p6", "p7"]
