"""Helpers of models: widths, initialization, intermediate results."""
import functools
import inspect
from collections import OrderedDict

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision._utils import sequence_to_str
from dragon.vm.torchvision.models._api import WeightsEnum

nn = torch.nn


def _make_divisible(v, divisor, min_value=None):
    """Return the nearest multiple, not more than a tenth below."""
    near = max(divisor if min_value is None else min_value, int(v + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * v else near


def kwonly_to_pos_or_kw(fn):
    """Return a function that takes by place, with a warning, what it takes by name only."""
    names = [parameter.name for parameter in inspect.signature(fn).parameters.values()
             if parameter.kind is not parameter.VAR_KEYWORD]
    count = sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD
                for parameter in inspect.signature(fn).parameters.values())

    @functools.wraps(fn)
    def call(*args, **kwargs):
        given = dict(zip(names[count:], args[count:]))
        if len(args) > len(names):
            raise TypeError(f"{fn.__name__}() takes {len(names)} positional arguments but {len(args)} were given")
        if given:
            warnings.warn(f"Using {sequence_to_str(tuple(given), separate_last='and ')} as positional parameter(s) is "
                          "deprecated since 0.13 and may be removed in the future. Please use keyword parameter(s) "
                          "instead.")
        if twice := given.keys() & kwargs.keys():
            raise TypeError(f"{fn.__name__}() got multiple values for argument '{min(twice)}'")
        return fn(*args[:count], **given, **kwargs)
    return call


def handle_legacy_interface(**weights):
    """Return a decorator of models' functions, which then take flags as of old, with warnings.

    Parameters
    ----------
    **weights : Tuple[str, Union[None, WeightsEnum, Callable]]
        For each argument that names a checkpoint the flag of old, and the checkpoint that it means, or what makes that
        of the arguments.

    Returns
    -------
    Callable
        The decorator.

    """
    def decorate(builder):
        @kwonly_to_pos_or_kw
        @functools.wraps(builder)
        def call(*args, **kwargs):
            for name, (old, meant) in weights.items():
                given = kwargs.get(name)
                flagged = name in kwargs and given is not None and not isinstance(given, WeightsEnum) and (
                    not isinstance(given, str) or given == "legacy")
                if flagged or (name not in kwargs and old in kwargs):
                    kwargs[name] = _meant_by_flag(builder.__name__, name, old, meant, flagged, kwargs)
            return builder(*args, **kwargs)
        return call
    return decorate


def _meant_by_flag(builder, name, old, meant, by_place, kwargs):
    """Return the checkpoint that a flag means, which goes out of the arguments."""
    if by_place:
        kwargs[old] = kwargs.pop(name)
    checkpoint = None
    if kwargs[old]:
        checkpoint = meant(kwargs) if callable(meant) else meant
        if not isinstance(checkpoint, WeightsEnum):
            raise ValueError(f"No weights available for model {builder}")
    if not by_place:
        warnings.warn(f"The parameter '{old}' is deprecated since 0.13 and may be removed in the future, please use "
                      f"'{name}' instead.")
    newest = f" You can also use `{name}={type(checkpoint).__name__}.DEFAULT` to get the most up-to-date weights."
    warnings.warn(f"Arguments other than a weight enum or `None` for '{name}' are deprecated since 0.13 and may be "
                  f"removed in the future. The current behavior is equivalent to passing `{name}={checkpoint}`."
                  f"{newest if kwargs.pop(old) else ''}")
    return checkpoint


def initialize(model, conv, linear=None, norms=(nn.BatchNorm2d, nn.GroupNorm)):
    """Initialize a model's layers in their order: convolutions and linear layers by functions, norms to 1 and 0."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            conv(module)
        elif isinstance(module, norms):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif linear is not None and isinstance(module, nn.Linear):
            linear(module)


def fan_out(module):
    """Draw a convolution's weights by its outputs; no bias."""
    nn.init.kaiming_normal_(module.weight, mode="fan_out")
    if module.bias is not None:
        nn.init.zeros_(module.bias)


def small(module):
    """Draw a linear layer's weights with deviation 0.01; no bias."""
    nn.init.normal_(module.weight, 0, 0.01)
    nn.init.zeros_(module.bias)


class IntermediateLayerGetter(nn.ModuleDict):
    """Return what some of a model's layers make.

    Parameters
    ----------
    model : Module
        Its children are called one after another.
    return_layers : Dict[str, str]
        The layers, and the names of their results.

    """

    _version = 2

    def __init__(self, model, return_layers):
        if not set(return_layers).issubset(name for name, _ in model.named_children()):
            raise ValueError("return_layers are not present in model")
        wanted, layers = {str(key) for key in return_layers}, OrderedDict()
        for name, module in model.named_children():
            layers[name] = module
            wanted.discard(name)
            if not wanted:
                break
        super().__init__(layers)
        self.return_layers = return_layers

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
