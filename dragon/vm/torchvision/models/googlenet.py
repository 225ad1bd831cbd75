"""GoogLeNet."""
from collections import namedtuple
from typing import Optional

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision.models._api import define, overwrite
from dragon.vm.torchvision.models._utils import initialize

nn = torch.nn
F = nn.functional
GoogLeNetOutputs = namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])
GoogLeNetOutputs.__annotations__ = {"logits": torch.Tensor, "aux_logits2": Optional[torch.Tensor],
                                    "aux_logits1": Optional[torch.Tensor]}
_GoogLeNetOutputs = GoogLeNetOutputs


class BasicConv2d(nn.Module):
    """A convolution, a normalization and a rectifier."""

    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    """Convolutions of 1, 3 and 5, and a pooling, side by side."""

    def __init__(self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1 = conv(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(conv(in_channels, ch3x3red, kernel_size=1),
                                     conv(ch3x3red, ch3x3, kernel_size=3, padding=1))
        self.branch3 = nn.Sequential(conv(in_channels, ch5x5red, kernel_size=1),
                                     conv(ch5x5red, ch5x5, kernel_size=3, padding=1))
        self.branch4 = nn.Sequential(nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
                                     conv(in_channels, pool_proj, kernel_size=1))

    def _forward(self, x):
        return [self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)]

    def forward(self, x):
        return torch.cat(self._forward(x), 1)


class InceptionAux(nn.Module):
    """Classes from the middle of the network."""

    def __init__(self, in_channels, num_classes, conv_block=None, dropout=0.7):
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        x = torch.flatten(self.conv(F.adaptive_avg_pool2d(x, (4, 4))), 1)
        return self.fc2(self.dropout(F.relu(self.fc1(x), inplace=True)))


def old_normalization(x):
    """Return images normalized by channels as if each had mean and deviation 0.5."""
    channels = [x[:, index:index + 1] * (std / 0.5) + (mean - 0.5) / 0.5
                for index, (mean, std) in enumerate(((0.485, 0.229), (0.456, 0.224), (0.406, 0.225)))]
    return torch.cat(channels, 1)


def settle_initialization(init_weights, name):
    """Return whether to initialize; warns where nothing was said."""
    if init_weights is None:
        warnings.warn(f"The default weight initialization of {name} will be changed in future releases of torchvision. "
                      "If you wish to keep the old behavior (which leads to long initialization times due to "
                      "scipy/scipy#11299), please set init_weights=True.", FutureWarning)
    return init_weights is None or init_weights


def truncated(module, stddev=0.01):
    """Draw weights from a normal distribution without its tails; a module may have a deviation of its own."""
    nn.init.trunc_normal_(module.weight, mean=0.0, std=float(getattr(module, "stddev", stddev)), a=-2, b=2)


# Name, channels in, then those of the four branches.
_BLOCKS = {"3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64),
           "4a": (480, 192, 96, 208, 16, 48, 64), "4b": (512, 160, 112, 224, 24, 64, 64),
           "4c": (512, 128, 128, 256, 24, 64, 64), "4d": (512, 112, 144, 288, 32, 64, 64),
           "4e": (528, 256, 160, 320, 32, 128, 128), "5a": (832, 256, 160, 320, 32, 128, 128),
           "5b": (832, 384, 192, 384, 48, 128, 128)}


class GoogLeNet(nn.Module):
    """GoogLeNet, with classes from its middle while training.

    Parameters
    ----------
    blocks : List[Callable], optional
        The classes of convolutions, blocks and those in the middle.
    dropout, dropout_aux : float, optional
        The probabilities of zeroing.

    """

    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, init_weights=None, blocks=None,
                 dropout=0.2, dropout_aux=0.7):
        super().__init__()
        blocks = [BasicConv2d, Inception, InceptionAux] if blocks is None else blocks
        init_weights = settle_initialization(init_weights, "GoogleNet")
        if len(blocks) != 3:
            raise ValueError(f"blocks length should be 3 instead of {len(blocks)}")
        conv, block, middle = blocks
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, sizes in _BLOCKS.items():
            setattr(self, f"inception{name}", block(*sizes))
            if name in ("3b", "4e"):
                setattr(self, f"maxpool{name[0]}", nn.MaxPool2d(3 if name == "3b" else 2, stride=2, ceil_mode=True))
        self.aux1 = middle(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = middle(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init_weights:
            initialize(self, truncated, truncated, norms=(nn.BatchNorm2d,))

    def _transform_input(self, x):
        return old_normalization(x) if self.transform_input else x

    def _forward(self, x):
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))
        aux1 = self.aux1(x) if self.aux1 is not None and self.training else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        aux2 = self.aux2(x) if self.aux2 is not None and self.training else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        return self.fc(self.dropout(torch.flatten(self.avgpool(x), 1))), aux2, aux1

    def eager_outputs(self, x, aux2, aux1):
        """Return the classes, with those from the middle while training."""
        return GoogLeNetOutputs(x, aux2, aux1) if self.training and self.aux_logits else x

    def forward(self, x):
        found = self._forward(self._transform_input(x))
        return GoogLeNetOutputs(*found) if torch.jit.is_scripting() else self.eager_outputs(*found)


def prepare(kwargs, weights):
    """Settle the arguments that old checkpoints settle."""
    kwargs.setdefault("transform_input", True)
    kwargs["aux_logits"] = True
    overwrite(kwargs, "init_weights", False)


def finish(model, state, kwargs):
    """Load a checkpoint; without classes from the middle unless they were asked for."""
    model.load_state_dict(state)
    if not kwargs.get("aux_logits", False):
        model.aux_logits, model.aux1, model.aux2 = False, None, None
    else:
        warnings.warn("auxiliary heads in the pretrained googlenet model are NOT pretrained, so make sure to train "
                      "them")


define(globals(), "googlenet", "GoogLeNet", GoogLeNet, prepare, finish)
