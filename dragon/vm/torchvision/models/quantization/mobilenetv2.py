"""MobileNet, second version, that may be quantized."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import mobilenetv2 as _plain
from dragon.vm.torchvision.models.quantization.utils import _fuse_modules, define_quantizable, Quantizable
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation

nn = torch.nn


class QuantizableInvertedResidual(_plain.InvertedResidual):
    """A block whose sum is a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.skip_add = nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.skip_add.add(x, self.conv(x)) if self.use_res_connect else self.conv(x)

    def fuse_model(self, is_qat=None):
        """Fuse the last convolution with its normalization."""
        for index, layer in enumerate(self.conv):
            if type(layer) is nn.Conv2d:
                _fuse_modules(self.conv, [str(index), str(index + 1)], is_qat, inplace=True)


class QuantizableMobileNetV2(Quantizable, _plain.MobileNetV2):
    """MobileNet, second version, that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._mark()

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        for module in self.modules():
            if type(module) is Conv2dNormActivation:
                _fuse_modules(module, ["0", "1", "2"], is_qat, inplace=True)
            elif type(module) is QuantizableInvertedResidual:
                module.fuse_model(is_qat)


define_quantizable(globals(), "mobilenet_v2", "MobileNet_V2", partial(
    QuantizableMobileNetV2, block=QuantizableInvertedResidual), _plain.MobileNet_V2_Weights, backend="qnnpack")
