"""GoogLeNet that may be quantized."""
from dragon.vm import torch
from dragon.vm.torchvision.models.googlenet import (BasicConv2d, finish, GoogLeNet, GoogLeNet_Weights, Inception,
                                                    InceptionAux, prepare)
from dragon.vm.torchvision.models.quantization.utils import _fuse_modules, define_quantizable, Quantizable

nn, F = torch.nn, torch.nn.functional


class QuantizableBasicConv2d(BasicConv2d):
    """A convolution whose rectifier is a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))

    def fuse_model(self, is_qat=None):
        """Fuse the convolution with what follows."""
        _fuse_modules(self, ["conv", "bn", "relu"], is_qat, inplace=True)


class QuantizableInception(Inception):
    """A block whose branches are joined by a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conv_block=QuantizableBasicConv2d, **kwargs)
        self.cat = nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.cat.cat(self._forward(x), 1)


class QuantizableInceptionAux(InceptionAux):
    """Classes from the middle of the network, whose rectifier is a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conv_block=QuantizableBasicConv2d, **kwargs)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = torch.flatten(self.conv(F.adaptive_avg_pool2d(x, (4, 4))), 1)
        return self.fc2(self.dropout(self.relu(self.fc1(x))))


class FusedConvolutions(Quantizable):
    """The base of networks all of whose convolutions are `QuantizableBasicConv2d`."""

    def forward(self, x):
        x, *aux = self._forward(self.quant(self._transform_input(x)))
        return self.eager_outputs(self.dequant(x), *aux)

    def fuse_model(self, is_qat=None):
        """Fuse convolutions with what follows."""
        for module in self.modules():
            if type(module) is QuantizableBasicConv2d:
                module.fuse_model(is_qat)


class QuantizableGoogLeNet(FusedConvolutions, GoogLeNet):
    """GoogLeNet that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, blocks=[QuantizableBasicConv2d, QuantizableInception, QuantizableInceptionAux],
                         **kwargs)
        self._mark()


define_quantizable(globals(), "googlenet", "GoogLeNet", QuantizableGoogLeNet, GoogLeNet_Weights, prepare, finish)
