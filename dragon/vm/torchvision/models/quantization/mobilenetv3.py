"""MobileNet, third version, that may be quantized."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import mobilenetv3 as _plain
from dragon.vm.torchvision.models.quantization.utils import _fuse_modules, define_quantizable, Quantizable
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation

nn = torch.nn


class QuantizableSqueezeExcitation(SqueezeExcitation):
    """Weigh channels by a product that is a module."""

    _version = 2

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{**kwargs, "scale_activation": nn.Hardsigmoid})
        self.skip_mul = nn.quantized.FloatFunctional()

    def forward(self, input):
        return self.skip_mul.mul(self._scale(input), input)

    def fuse_model(self, is_qat=None):
        """Fuse the first layer with its activation."""
        _fuse_modules(self, ["fc1", "activation"], is_qat, inplace=True)


class QuantizableInvertedResidual(_plain.InvertedResidual):
    """A block whose sum is a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, se_layer=QuantizableSqueezeExcitation, **kwargs)
        self.skip_add = nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.skip_add.add(x, self.block(x)) if self.use_res_connect else self.block(x)


class QuantizableMobileNetV3(Quantizable, _plain.MobileNetV3):
    """MobileNet, third version, that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._mark()

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        for module in self.modules():
            if type(module) is Conv2dNormActivation:
                rectified = len(module) == 3 and type(module[2]) is nn.ReLU
                _fuse_modules(module, ["0", "1", "2"] if rectified else ["0", "1"], is_qat, inplace=True)
            elif type(module) is QuantizableSqueezeExcitation:
                module.fuse_model(is_qat)


define_quantizable(globals(), "mobilenet_v3_large", "MobileNet_V3_Large", partial(
    _plain.build, "mobilenet_v3_large", QuantizableMobileNetV3, block=QuantizableInvertedResidual),
    _plain.MobileNet_V3_Large_Weights, backend="qnnpack")
