"""What models that may be quantized share."""
from typing import Union

from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice, overwrite, publish, weights_enum

nn = torch.nn


def _replace_relu(module):
    """Put rectifiers that keep their input, and that have no upper end, in place of all others."""
    for name, child in module.named_children():
        _replace_relu(child)
        if type(child) in (nn.ReLU, nn.ReLU6):
            module._modules[name] = nn.ReLU(inplace=False)


def quantize_model(model, backend):
    """Refuse: numbers of a byte are not there."""
    raise NotImplementedError(f"quantize_model: got backend={backend!r}; Dragon has no quantized numbers, expected a "
                              "model made with quantize=False")


def _fuse_modules(model, modules_to_fuse, is_qat, **kwargs):
    """Fuse modules for training if told, or if the model trains and nothing is told."""
    is_qat = model.training if is_qat is None else is_qat
    quantization = torch.ao.quantization
    fuse = quantization.fuse_modules_qat if is_qat else quantization.fuse_modules
    return fuse(model, modules_to_fuse, **kwargs)


class QuantStub(nn.Identity):
    """Where a quantized model would turn floats into bytes."""


class DeQuantStub(nn.Identity):
    """Where a quantized model would turn bytes into floats."""


class Quantizable(nn.Module):
    """The base of models whose images may come as bytes and whose answers leave as floats."""

    def _mark(self):
        self.quant, self.dequant = QuantStub(), DeQuantStub()

    def forward(self, x):
        return self.dequant(self._forward_impl(self.quant(x)))


def define_quantizable(namespace, name, enum_name, make, plain, prepare=None, finish=None, backend="fbgemm"):
    """Define the function of a model that may be quantized, and the class of its quantized checkpoints, in a module.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    name : str
        The function's name.
    enum_name : str
        The name of the class, without "_QuantizedWeights".
    make : Callable
        Makes the model from keyword arguments.
    plain : type
        The class of the checkpoints of floats.
    prepare, finish : Callable, optional
        As for `define`.
    backend : str, optional, default="fbgemm"
        Which kernels a quantized model would use.

    """
    enum = namespace.setdefault(f"{enum_name}_QuantizedWeights",
                                weights_enum(f"{enum_name}_QuantizedWeights", unquantized=plain))

    def call(weights, progress, quantize, **kwargs):
        kernels = kwargs.pop("backend", backend)
        if quantize:
            quantize_model(None, kernels)
        weights, before = plain.verify(weights), dict(kwargs)
        if weights is not None:
            overwrite(kwargs, "num_classes", len(weights.meta["categories"]))
            if prepare is not None:
                prepare(kwargs, weights)
        model = make(**kwargs)
        _replace_relu(model)
        if weights is not None:
            state = weights.get_state_dict(progress=progress, check_hash=True)
            if finish is None:
                model.load_state_dict(state)
            else:
                finish(model, state, before)
        return model
    publish(namespace, name, call, {"weights": EitherChoice(enum, plain), "progress": True, "quantize": False},
            listed=f"quantized_{name}")


class EitherChoice(Choice):
    """An argument that names a quantized checkpoint, or one of floats where the model is not to be quantized."""

    def __init__(self, enum, plain):
        super().__init__(enum)
        self.plain = plain

    def settle(self, who, name, kwargs):
        """Put the member that arguments name, perhaps in the manner of old, among the arguments."""
        enum = self.enum if kwargs.get("quantize") else self.plain
        Choice(enum).settle(who, name, kwargs)

    def annotation(self):
        """Return the type of the argument."""
        return Union[self.enum, self.plain, None]
