"""Models by name, and the checkpoints that belong to them."""
import fnmatch
import functools
import importlib
import importlib.resources
import inspect
from dataclasses import dataclass
from enum import Enum
from typing import Optional

from dragon.core import warnings
from dragon.vm.torchvision._internally_replaced_utils import load_state_dict_from_url
from dragon.vm.torchvision.models._table import WEIGHTS

BUILTIN_MODELS = {}
BASE = "https://download.pytorch.org/models/"


@dataclass
class Weights:
    """A checkpoint: its address, the transform for its images, and what is known of it."""

    url: str
    transforms: object
    meta: dict


class WeightsEnum(Enum):
    """The checkpoints of a model."""

    @classmethod
    def verify(cls, obj):
        """Return a member given as such or by its name; None as it is."""
        if isinstance(obj, str):
            return cls[obj.replace(cls.__name__ + ".", "")]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received "
                            f"{obj.__class__.__name__}.")
        return obj

    def get_state_dict(self, *args, **kwargs):
        """Return the checkpoint, from the cache or fetched."""
        return load_state_dict_from_url(self.url, *args, **kwargs)

    def __repr__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    url = property(lambda self: self.value.url, doc="The checkpoint's address.")
    transforms = property(lambda self: self.value.transforms,
                          doc="The transform for its images: a function without arguments that makes the transform.")
    meta = property(lambda self: self.value.meta, doc="The facts known about it.")


class Meta(dict):
    """The facts known about a checkpoint; the names of its classes are read when first asked for."""

    def __missing__(self, key):
        if key != "categories":
            raise KeyError(key)
        self[key] = categories()
        return self[key]


@functools.cache
def categories():
    """Return the names of ImageNet's thousand classes."""
    return importlib.resources.files(__package__).joinpath("imagenet.txt").read_text("utf-8").splitlines()


class _Preset:
    """Makes the transform of a checkpoint; Pillow is needed only then."""

    def __init__(self, crop, resize, interpolation, raw):
        self.keywords = {"crop_size": crop, "resize_size": resize, "interpolation": interpolation}
        self.raw = raw

    def __call__(self, **kwargs):
        from dragon.vm.torchvision.transforms._presets import ImageClassification, InterpolationMode
        given = {**self.keywords, "interpolation": InterpolationMode(self.keywords["interpolation"]), **kwargs}
        if self.raw:
            given = {"mean": self.raw[0], "std": self.raw[1], **given}
        return ImageClassification(**given)


# Two checkpoints were trained on pixels normalized otherwise.
_RAW = {"VGG16_Weights": ((0.48235, 0.45882, 0.40784), (1.0 / 255.0,) * 3),
        "EfficientNet_V2_L_Weights": ((0.5,) * 3, (0.5,) * 3)}


def weights_enum(name):
    """Return the class of a model's checkpoints, by its name."""
    members, default = {}, None
    for line in WEIGHTS.strip().splitlines():
        enum, member, file, crop, resize, interpolation, count, least, *raw = line.split()
        if enum != name:
            continue
        meta = Meta(num_params=int(count), min_size=(int(least), int(least)))
        if member == "IMAGENET1K_FEATURES":
            meta["categories"] = None
        preset = _Preset(int(crop), int(resize), interpolation, _RAW[name] if raw else None)
        members[member.rstrip("*")] = Weights(BASE + file, preset, meta)
        default = members[member.rstrip("*")] if member.endswith("*") else default
    if default is not None:
        members["DEFAULT"] = default
    enum = WeightsEnum(name, members)
    enum.__module__ = "torchvision.models"
    return enum


def get_weight(name):
    """Return a checkpoint by its full name, such as "ResNet18_Weights.DEFAULT"."""
    enum, dot, member = name.partition(".")
    if not dot or "." in member:
        raise ValueError(f"Invalid weight name provided: '{name}'.")
    found = importlib.import_module(__package__).__dict__.get(enum)
    if not (isinstance(found, type) and issubclass(found, WeightsEnum)):
        raise ValueError(f"The weight enum '{enum}' for the specific method couldn't be retrieved.")
    return found[member]


def get_model_weights(name):
    """Return the class of checkpoints of a model, given by its name or its function."""
    function = get_model_builder(name) if isinstance(name, str) else name
    parameter = inspect.signature(function).parameters.get("weights")
    if parameter is None:
        raise ValueError("The method is missing the 'weights' argument.")
    for kind in (parameter.annotation, *getattr(parameter.annotation, "__args__", ())):
        if isinstance(kind, type) and issubclass(kind, WeightsEnum):
            return kind
    raise ValueError("The WeightsEnum class for the specific method couldn't be retrieved. Make sure the typing info "
                     "is correct.")


def register_model(name=None):
    """Return a decorator that lists a function among the models."""
    def register(function):
        key = name or function.__name__
        if key in BUILTIN_MODELS:
            raise ValueError(f"An entry is already registered under the name '{key}'.")
        BUILTIN_MODELS[key] = function
        return function
    return register


def _matching(names, patterns):
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}


def list_models(module=None, include=None, exclude=None):
    """Return the names of models, those in a module, and by patterns."""
    names = {name for name, function in BUILTIN_MODELS.items()
             if module is None or function.__module__.rpartition(".")[0].endswith(module.__name__.rpartition("vm.")[2])}
    names = _matching(names, include) if include else names
    return sorted(names - _matching(names, exclude) if exclude else names)


def get_model_builder(name):
    """Return the function that makes a model."""
    try:
        return BUILTIN_MODELS[name.lower()]
    except KeyError:
        raise ValueError(f"Unknown model {name.lower()}") from None


def get_model(name, **config):
    """Return a model by name."""
    return get_model_builder(name)(**config)


def overwrite(kwargs, name, value):
    """Set an argument that a checkpoint settles; raises ValueError if it was given another value."""
    if kwargs.setdefault(name, value) != value:
        raise ValueError(f"The parameter '{name}' expected value {value} but got {kwargs[name]} instead.")


def _old_arguments(name, enum, args, kwargs):
    """Return (weights, progress) from arguments in the manner of old: `pretrained`, or by position."""
    if args:
        warnings.warn("Using 'weights' as positional parameter(s) is deprecated since 0.13 and may be removed in the "
                      "future. Please use keyword parameter(s) instead.")
        kwargs.update(zip(("weights", "progress"), args))
    weights = kwargs.pop("weights", None)
    if "pretrained" in kwargs:
        warnings.warn("The parameter 'pretrained' is deprecated since 0.13 and may be removed in the future, please "
                      "use 'weights' instead.")
        weights = kwargs.pop("pretrained")
    if weights is not None and not isinstance(weights, (str, WeightsEnum)):
        warnings.warn("Arguments other than a weight enum or `None` for 'weights' are deprecated since 0.13 and may be "
                      "removed in the future.")
        first = next(iter(enum), None)
        if weights and first is None:
            raise ValueError(f"No weights available for model {name}")
        weights = first if weights else None
    return enum.verify(weights), kwargs.pop("progress", True)


def define(namespace, name, enum_name, make, prepare=None, finish=None):
    """Define a model's function, and the class of its checkpoints, in a module.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    name : str
        The function's name.
    enum_name : str
        The name of the class, without "_Weights".
    make : Callable
        Makes the model from keyword arguments.
    prepare : Callable, optional
        Is given the arguments and the checkpoint, and settles what the checkpoint settles besides the classes.
    finish : Callable, optional
        Loads the checkpoint into the model in its own way.

    """
    enum = namespace.setdefault(f"{enum_name}_Weights", weights_enum(f"{enum_name}_Weights"))

    def build(*args, **kwargs):
        weights, progress = _old_arguments(name, enum, args, kwargs)
        before = dict(kwargs)
        if weights is not None:
            if weights.meta["categories"] is not None:
                overwrite(kwargs, "num_classes", len(weights.meta["categories"]))
            if prepare is not None:
                prepare(kwargs, weights)
        model = make(**kwargs)
        if weights is not None:
            state = weights.get_state_dict(progress=progress, check_hash=True)
            if finish is None:
                model.load_state_dict(state)
            else:
                finish(model, state, before)
        return model
    build.__name__ = build.__qualname__ = name
    build.__module__ = namespace["__name__"]
    build.__doc__ = f"Return the model {name}, with a checkpoint of `{enum.__name__}` if one is named."
    keyword = inspect.Parameter.KEYWORD_ONLY
    build.__signature__ = inspect.Signature([
        inspect.Parameter("weights", keyword, default=None, annotation=Optional[enum]),
        inspect.Parameter("progress", keyword, default=True),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])
    namespace[name] = register_model()(build)
