"""ShuffleNet, second version, that may be quantized."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import shufflenetv2 as _plain
from dragon.vm.torchvision.models.quantization.utils import _fuse_modules, define_quantizable, Quantizable


class QuantizableInvertedResidual(_plain.InvertedResidual):
    """A block whose halves are joined by a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cat = torch.nn.quantized.FloatFunctional()

    def forward(self, x):
        if self.stride == 1:
            around, through = x.chunk(2, dim=1)
            out = self.cat.cat([around, self.branch2(through)], dim=1)
        else:
            out = self.cat.cat([self.branch1(x), self.branch2(x)], dim=1)
        return _plain.channel_shuffle(out, 2)


class QuantizableShuffleNetV2(Quantizable, _plain.ShuffleNetV2):
    """ShuffleNet, second version, that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, inverted_residual=QuantizableInvertedResidual, **kwargs)
        self._mark()

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        for part in (self.conv1, self.conv5):
            _fuse_modules(part, [["0", "1", "2"]], is_qat, inplace=True)
        for module in self.modules():
            if type(module) is QuantizableInvertedResidual:
                if len(module.branch1) > 0:
                    _fuse_modules(module.branch1, [["0", "1"], ["2", "3", "4"]], is_qat, inplace=True)
                _fuse_modules(module.branch2, [["0", "1", "2"], ["3", "4"], ["5", "6", "7"]], is_qat, inplace=True)


for _factor, _channels in (("0_5", [24, 48, 96, 192, 1024]), ("1_0", [24, 116, 232, 464, 1024]),
                           ("1_5", [24, 176, 352, 704, 1024]), ("2_0", [24, 244, 488, 976, 2048])):
    define_quantizable(globals(), f"shufflenet_v2_x{_factor}", f"ShuffleNet_V2_X{_factor}",
                       partial(QuantizableShuffleNetV2, [4, 8, 4], _channels),
                       getattr(_plain, f"ShuffleNet_V2_X{_factor}_Weights"))
