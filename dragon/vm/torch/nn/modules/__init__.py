"""The layers of `torch.nn`, one file per family: a layer that a family defines is seen here."""
import types as _types

from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules import (  # noqa: F401
    activation, adaptive, batchnorm, channelshuffle, container, conv, distance, dropout, flatten, fold, instancenorm,
    linear, loss, module, normalization, padding, pixelshuffle, pooling, rnn, sparse, transformer, upsampling)

_HIDDEN = ("NonDynamicallyQuantizableLinear",)  # PyTorch shows it in its family alone
for _word, _family in list(globals().items()):
    if isinstance(_family, _types.ModuleType) and not _word.startswith("_"):
        globals().update((_name, _layer) for _name, _layer in vars(_family).items()
                         if isinstance(_layer, type) and issubclass(_layer, Module) and not _name.startswith("_")
                         and _layer.__module__ == _family.__name__ and _name not in _HIDDEN)
