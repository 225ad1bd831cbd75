"""The places in a model where numbers become integers, and floats again."""
from dragon.vm.torch.nn.modules.module import Module


class QuantStub(Module):
    """Stand where numbers are quantized; until then they pass.

    Parameters
    ----------
    qconfig : QConfig, optional
        How they will be.

    """

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        """Return the numbers."""
        return x


class DeQuantStub(QuantStub):
    """Stand where numbers become floats again; until they are quantized they pass.

    Parameters
    ----------
    qconfig : QConfig, optional
        How they will be.

    """


class QuantWrapper(Module):
    """A module between the two stubs.

    Parameters
    ----------
    module : Module
        The module.

    """

    def __init__(self, module):
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):
        """Return what the module gives."""
        return self.dequant(self.module(self.quant(X)))
