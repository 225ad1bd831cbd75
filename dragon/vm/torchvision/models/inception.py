"""Inception, third version."""
from collections import namedtuple
from functools import partial
from typing import List, Optional

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import initialize
from dragon.vm.torchvision.models.googlenet import (BasicConv2d, old_normalization, prepare, settle_initialization,
                                                    truncated)

nn = torch.nn
F = nn.functional
InceptionOutputs = namedtuple("InceptionOutputs", ["logits", "aux_logits"])
InceptionOutputs.__annotations__ = {"logits": torch.Tensor, "aux_logits": Optional[torch.Tensor]}
_InceptionOutputs = InceptionOutputs


def _average(x):
    """Return the means of squares of three by three."""
    return F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)


def _greatest(x):
    """Return the greatest of squares of three by three, of every second one."""
    return F.max_pool2d(x, kernel_size=3, stride=2)


class _Branches(nn.Module):
    """Branches side by side, each of convolutions one after another."""

    def _build(self, conv_block, rows):
        """Make convolutions of (name, channels in, channels out, kernel, further options)."""
        for name, before, after, kernel, *options in rows:
            made = {"kernel_size": kernel}
            for option in options:
                made.update(option)
            setattr(self, name, (conv_block or BasicConv2d)(before, after, **made))

    def forward(self, x):
        return torch.cat(self._forward(x), 1)


def _pad(*sizes):
    return {"padding": sizes if len(sizes) > 1 else sizes[0]}


_TWO = {"stride": 2}


class InceptionA(_Branches):
    """Convolutions of 1, 5 and twice 3, and a pooling."""

    def __init__(self, in_channels, pool_features, conv_block=None):
        super().__init__()
        self._build(conv_block, (
            ("branch1x1", in_channels, 64, 1), ("branch5x5_1", in_channels, 48, 1), ("branch5x5_2", 48, 64, 5, _pad(2)),
            ("branch3x3dbl_1", in_channels, 64, 1), ("branch3x3dbl_2", 64, 96, 3, _pad(1)),
            ("branch3x3dbl_3", 96, 96, 3, _pad(1)), ("branch_pool", in_channels, pool_features, 1)))

    def _forward(self, x):
        wide = self.branch5x5_2(self.branch5x5_1(x))
        deep = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return [self.branch1x1(x), wide, deep, self.branch_pool(_average(x))]


class InceptionB(_Branches):
    """Halve the size by convolutions of 3 and twice 3, and a pooling."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        self._build(conv_block, (("branch3x3", in_channels, 384, 3, _TWO), ("branch3x3dbl_1", in_channels, 64, 1),
                                 ("branch3x3dbl_2", 64, 96, 3, _pad(1)), ("branch3x3dbl_3", 96, 96, 3, _TWO)))

    def _forward(self, x):
        deep = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return [self.branch3x3(x), deep, _greatest(x)]


class InceptionC(_Branches):
    """Convolutions of 1, 7 and twice 7, down and across by turns, and a pooling."""

    def __init__(self, in_channels, channels_7x7, conv_block=None):
        super().__init__()
        c7, across, down = channels_7x7, ((1, 7), _pad(0, 3)), ((7, 1), _pad(3, 0))
        self._build(conv_block, (
            ("branch1x1", in_channels, 192, 1), ("branch7x7_1", in_channels, c7, 1), ("branch7x7_2", c7, c7, *across),
            ("branch7x7_3", c7, 192, *down), ("branch7x7dbl_1", in_channels, c7, 1),
            ("branch7x7dbl_2", c7, c7, *down), ("branch7x7dbl_3", c7, c7, *across), ("branch7x7dbl_4", c7, c7, *down),
            ("branch7x7dbl_5", c7, 192, *across), ("branch_pool", in_channels, 192, 1)))

    def _forward(self, x):
        wide = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        deep = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        deep = self.branch7x7dbl_5(self.branch7x7dbl_4(deep))
        return [self.branch1x1(x), wide, deep, self.branch_pool(_average(x))]


class InceptionD(_Branches):
    """Halve the size by convolutions of 3, and of 7 and 3, and a pooling."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        self._build(conv_block, (
            ("branch3x3_1", in_channels, 192, 1), ("branch3x3_2", 192, 320, 3, _TWO),
            ("branch7x7x3_1", in_channels, 192, 1), ("branch7x7x3_2", 192, 192, (1, 7), _pad(0, 3)),
            ("branch7x7x3_3", 192, 192, (7, 1), _pad(3, 0)), ("branch7x7x3_4", 192, 192, 3, _TWO)))

    def _forward(self, x):
        wide = self.branch7x7x3_2(self.branch7x7x3_1(x))
        wide = self.branch7x7x3_4(self.branch7x7x3_3(wide))
        return [self.branch3x3_2(self.branch3x3_1(x)), wide, _greatest(x)]


class InceptionE(_Branches):
    """Convolutions of 1, 3 and twice 3 that part at their ends, and a pooling."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        across, down = ((1, 3), _pad(0, 1)), ((3, 1), _pad(1, 0))
        self._build(conv_block, (
            ("branch1x1", in_channels, 320, 1), ("branch3x3_1", in_channels, 384, 1),
            ("branch3x3_2a", 384, 384, *across), ("branch3x3_2b", 384, 384, *down),
            ("branch3x3dbl_1", in_channels, 448, 1), ("branch3x3dbl_2", 448, 384, 3, _pad(1)),
            ("branch3x3dbl_3a", 384, 384, *across), ("branch3x3dbl_3b", 384, 384, *down),
            ("branch_pool", in_channels, 192, 1)))

    def _forward(self, x):
        wide = self.branch3x3_1(x)
        deep = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        wide = self._join(0, [self.branch3x3_2a(wide), self.branch3x3_2b(wide)])
        deep = self._join(1, [self.branch3x3dbl_3a(deep), self.branch3x3dbl_3b(deep)])
        return [self.branch1x1(x), wide, deep, self.branch_pool(_average(x))]

    def _join(self, index: int, parts: List[torch.Tensor]):
        return torch.cat(parts, 1)


class InceptionAux(nn.Module):
    """Classes from the middle of the network."""

    def __init__(self, in_channels, num_classes, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.conv0 = conv(in_channels, 128, kernel_size=1)
        self.conv1 = conv(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x):
        x = self.conv1(self.conv0(F.avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


_DEFAULT_BLOCKS = [BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux]


class Inception3(nn.Module):
    """Inception, third version, with classes from its middle while training.

    Parameters
    ----------
    inception_blocks : List[Callable], optional
        The seven classes of blocks.

    """

    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, inception_blocks=None,
                 init_weights=None, dropout=0.5):
        super().__init__()
        blocks = _DEFAULT_BLOCKS if inception_blocks is None else inception_blocks
        init_weights = settle_initialization(init_weights, "inception_v3")
        if len(blocks) != 7:
            raise ValueError(f"length of inception_blocks should be 7 instead of {len(blocks)}")
        conv, block_a, block_b, block_c, block_d, block_e, middle = blocks
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        for name, width, features in (("b", 192, 32), ("c", 256, 64), ("d", 288, 64)):
            setattr(self, f"Mixed_5{name}", block_a(width, pool_features=features))
        self.Mixed_6a = block_b(288)
        for name, channels in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
            setattr(self, f"Mixed_6{name}", block_c(768, channels_7x7=channels))
        self.AuxLogits = None
        if aux_logits:
            self.AuxLogits = middle(768, num_classes)
        self.Mixed_7a = block_d(768)
        self.Mixed_7b = block_e(1280)
        self.Mixed_7c = block_e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init_weights:
            draw = partial(truncated, stddev=0.1)
            initialize(self, draw, draw, norms=(nn.BatchNorm2d,))

    def _transform_input(self, x):
        return old_normalization(x) if self.transform_input else x

    def _forward(self, x):
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        aux = self.AuxLogits(x) if self.AuxLogits is not None and self.training else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        return self.fc(torch.flatten(self.dropout(self.avgpool(x)), 1)), aux

    def eager_outputs(self, x, aux):
        """Return the classes, with those from the middle while training."""
        return InceptionOutputs(x, aux) if self.training and self.aux_logits else x

    def forward(self, x):
        found = self._forward(self._transform_input(x))
        return InceptionOutputs(*found) if torch.jit.is_scripting() else self.eager_outputs(*found)


def finish(model, state, kwargs):
    """Load a checkpoint; without classes from the middle if that was asked for."""
    model.load_state_dict(state)
    if not kwargs.get("aux_logits", True):
        model.aux_logits, model.AuxLogits = False, None


define(globals(), "inception_v3", "Inception_V3", Inception3, prepare, finish)
