"""Inception, third version, that may be quantized."""
from dragon.vm import torch
from dragon.vm.torchvision.models import inception as _plain
from dragon.vm.torchvision.models.googlenet import prepare
from dragon.vm.torchvision.models.quantization.googlenet import FusedConvolutions, QuantizableBasicConv2d
from dragon.vm.torchvision.models.quantization.utils import define_quantizable

Join = torch.nn.quantized.FloatFunctional


class _Joined:
    """A block whose branches are joined by a module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conv_block=QuantizableBasicConv2d, **kwargs)
        self.myop = Join()

    def forward(self, x):
        return self.myop.cat(self._forward(x), 1)


class QuantizableInceptionA(_Joined, _plain.InceptionA):
    """Convolutions of 1, 5 and twice 3, and a pooling."""


class QuantizableInceptionB(_Joined, _plain.InceptionB):
    """Halve the size by convolutions of 3 and twice 3, and a pooling."""


class QuantizableInceptionC(_Joined, _plain.InceptionC):
    """Convolutions of 1, 7 and twice 7, down and across by turns, and a pooling."""


class QuantizableInceptionD(_Joined, _plain.InceptionD):
    """Halve the size by convolutions of 3, and of 7 and 3, and a pooling."""


class QuantizableInceptionE(_plain.InceptionE):
    """Convolutions of 1, 3 and twice 3 that part at their ends, and a pooling; three modules join them."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conv_block=QuantizableBasicConv2d, **kwargs)
        self.myop1, self.myop2, self.myop3 = Join(), Join(), Join()

    def _join(self, index, parts):
        return (self.myop1, self.myop2)[index].cat(parts, 1)

    def forward(self, x):
        return self.myop3.cat(self._forward(x), 1)


class QuantizableInceptionAux(_plain.InceptionAux):
    """Classes from the middle of the network."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conv_block=QuantizableBasicConv2d, **kwargs)


class QuantizableInception3(FusedConvolutions, _plain.Inception3):
    """Inception, third version, that may be quantized."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, inception_blocks=[
            QuantizableBasicConv2d, QuantizableInceptionA, QuantizableInceptionB, QuantizableInceptionC,
            QuantizableInceptionD, QuantizableInceptionE, QuantizableInceptionAux], **kwargs)
        self._mark()


def _prepare(kwargs, weights):
    init_weights = kwargs.pop("init_weights", None)
    prepare(kwargs, weights)
    kwargs["init_weights"] = init_weights


def _finish(model, state, kwargs):
    _plain.finish(model, state, {"aux_logits": False, **kwargs})


define_quantizable(globals(), "inception_v3", "Inception_V3", QuantizableInception3, _plain.Inception_V3_Weights,
                   _prepare, _finish)
