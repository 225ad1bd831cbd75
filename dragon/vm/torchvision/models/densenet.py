"""Networks in which every layer sees what all layers before it made."""
import re
from collections import OrderedDict
from functools import partial
from typing import List

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import initialize

nn = torch.nn
F = nn.functional


class _DenseLayer(nn.Module):
    def __init__(self, num_input_features, growth_rate, bn_size, drop_rate, memory_efficient=False):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, stride=1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate, self.memory_efficient = float(drop_rate), memory_efficient

    def bn_function(self, inputs: List[torch.Tensor]) -> torch.Tensor:
        """Return all inputs squeezed into few channels."""
        return self.conv1(self.relu1(self.norm1(torch.cat(inputs, 1))))

    @torch.jit.unused
    def squeezed_again(self, inputs: List[torch.Tensor]) -> torch.Tensor:
        """Return all inputs squeezed, and do so once more for their gradients."""
        from dragon.vm.torch.utils.checkpoint import checkpoint
        return checkpoint(lambda *each: self.bn_function(each), *inputs, use_reentrant=False)

    @torch.jit._overload_method
    def forward(self, input: List[torch.Tensor]) -> torch.Tensor:  # noqa: F811
        """Return new channels of several inputs."""

    @torch.jit._overload_method
    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: F811
        """Return new channels of one input."""

    def forward(self, input):  # noqa: F811
        before = [input] if isinstance(input, torch.Tensor) else input
        if self.memory_efficient and any([item.requires_grad for item in before]):
            squeezed = self.squeezed_again(before)
        else:
            squeezed = self.bn_function(before)
        made = self.conv2(self.relu2(self.norm2(squeezed)))
        return F.dropout(made, p=self.drop_rate, training=self.training) if self.drop_rate > 0 else made


class _DenseBlock(nn.ModuleDict):
    _version = 2

    def __init__(self, num_layers, num_input_features, bn_size, growth_rate, drop_rate, memory_efficient=False):
        super().__init__()
        for index in range(num_layers):
            self.add_module(f"denselayer{index + 1}", _DenseLayer(
                num_input_features + index * growth_rate, growth_rate, bn_size, drop_rate, memory_efficient))

    def forward(self, init_features):
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return torch.cat(features, 1)


class _Transition(nn.Sequential):
    def __init__(self, num_input_features, num_output_features):
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, kernel_size=1, stride=1, bias=False)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    """A densely connected network.

    Parameters
    ----------
    growth_rate : int, optional, default=32
        The channels that a layer adds.
    block_config : Tuple[int, ...], optional, default=(6, 12, 24, 16)
        The layers of each block.
    num_init_features : int, optional, default=64
        The channels of the first convolution.
    bn_size : int, optional, default=4
        The squeezed channels, in growth rates.
    drop_rate : float, optional, default=0
        The probability of zeroing after each layer.
    memory_efficient : bool, optional, default=False
        Whether to compute again what the gradient needs.

    """

    def __init__(self, growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, bn_size=4, drop_rate=0,
                 num_classes=1000, memory_efficient=False):
        super().__init__()
        self.features = nn.Sequential(OrderedDict([
            ("conv0", nn.Conv2d(3, num_init_features, kernel_size=7, stride=2, padding=3, bias=False)),
            ("norm0", nn.BatchNorm2d(num_init_features)), ("relu0", nn.ReLU(inplace=True)),
            ("pool0", nn.MaxPool2d(kernel_size=3, stride=2, padding=1))]))
        width = num_init_features
        for index, layers in enumerate(block_config):
            self.features.add_module(f"denseblock{index + 1}", _DenseBlock(layers, width, bn_size, growth_rate,
                                                                           drop_rate, memory_efficient))
            width += layers * growth_rate
            if index != len(block_config) - 1:
                self.features.add_module(f"transition{index + 1}", _Transition(width, width // 2))
                width //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(width))
        self.classifier = nn.Linear(width, num_classes)
        initialize(self, lambda module: nn.init.kaiming_normal_(module.weight),
                   lambda module: nn.init.zeros_(module.bias))

    def forward(self, x):
        out = F.adaptive_avg_pool2d(F.relu(self.features(x), inplace=True), (1, 1))
        return self.classifier(torch.flatten(out, 1))


def _finish(model, state, kwargs):
    # Old checkpoints write `norm.1.weight` for `norm1.weight`.
    pattern = re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.([12]\.\w+)$")
    model.load_state_dict({pattern.sub(r"\1\2", key): value for key, value in state.items()})


for _depth, _growth, _config, _width in ((121, 32, (6, 12, 24, 16), 64), (161, 48, (6, 12, 36, 24), 96),
                                         (169, 32, (6, 12, 32, 32), 64), (201, 32, (6, 12, 48, 32), 64)):
    define(globals(), f"densenet{_depth}", f"DenseNet{_depth}", partial(DenseNet, _growth, _config, _width),
           finish=_finish)
