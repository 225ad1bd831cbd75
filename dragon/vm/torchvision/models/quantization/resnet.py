"""Residual networks that may be quantized."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import resnet as _plain
from dragon.vm.torchvision.models._api import overwrite
from dragon.vm.torchvision.models.quantization.utils import _fuse_modules, define_quantizable, Quantizable

nn = torch.nn


class QuantizableBasicBlock(_plain.BasicBlock):
    """A block whose sum is a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.add_relu = nn.quantized.FloatFunctional()

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.add_relu.add_relu(out, x if self.downsample is None else self.downsample(x))

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        _fuse_modules(self, [["conv1", "bn1", "relu"], ["conv2", "bn2"]], is_qat, inplace=True)
        if self.downsample:
            _fuse_modules(self.downsample, ["0", "1"], is_qat, inplace=True)


class QuantizableBottleneck(_plain.Bottleneck):
    """A block whose sum is a module, and whose rectifiers are told apart."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.skip_add_relu = nn.quantized.FloatFunctional()
        self.relu1, self.relu2 = nn.ReLU(inplace=False), nn.ReLU(inplace=False)

    def forward(self, x):
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.relu2(self.bn2(self.conv2(out)))))
        return self.skip_add_relu.add_relu(out, x if self.downsample is None else self.downsample(x))

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        _fuse_modules(self, [["conv1", "bn1", "relu1"], ["conv2", "bn2", "relu2"], ["conv3", "bn3"]], is_qat,
                      inplace=True)
        if self.downsample:
            _fuse_modules(self.downsample, ["0", "1"], is_qat, inplace=True)


class QuantizableResNet(Quantizable, _plain.ResNet):
    """A residual network that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._mark()

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        _fuse_modules(self, ["conv1", "bn1", "relu"], is_qat, inplace=True)
        for module in self.modules():
            if type(module) in (QuantizableBottleneck, QuantizableBasicBlock):
                module.fuse_model(is_qat)


def _make(block, layers, settled, **kwargs):
    for name, value in settled.items():
        overwrite(kwargs, name, value)
    return QuantizableResNet(block, layers, **kwargs)


for _name, _enum, _block, _layers, _settled in (
        ("resnet18", "ResNet18", QuantizableBasicBlock, [2, 2, 2, 2], {}),
        ("resnet50", "ResNet50", QuantizableBottleneck, [3, 4, 6, 3], {}),
        ("resnext101_32x8d", "ResNeXt101_32X8D", QuantizableBottleneck, [3, 4, 23, 3],
         {"groups": 32, "width_per_group": 8}),
        ("resnext101_64x4d", "ResNeXt101_64X4D", QuantizableBottleneck, [3, 4, 23, 3],
         {"groups": 64, "width_per_group": 4})):
    define_quantizable(globals(), _name, _enum, partial(_make, _block, _layers, _settled),
                       getattr(_plain, f"{_enum}_Weights"))
