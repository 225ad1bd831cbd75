"""Models by name, and the checkpoints that belong to them."""
import fnmatch
import importlib
import inspect
from dataclasses import dataclass
from typing import Optional

from dragon.core import warnings
from dragon.vm.torchvision._utils import sequence_to_str
from dragon.vm.torchvision.models._weights import Weights, weights_enum, WeightsEnum  # noqa: F401

BUILTIN_MODELS = {}


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


@dataclass
class Choice:
    """An argument that names a checkpoint: its class, its default, the flag of old, and the member that flag means."""

    enum: type
    default: object = None
    old: str = "pretrained"
    member: Optional[str] = None

    def settle(self, who, name, kwargs):
        """Put the member that arguments name, perhaps in the manner of old, among the arguments."""
        given = kwargs.pop(name, self.default)
        if self.old in kwargs:
            warnings.warn(f"The parameter '{self.old}' is deprecated since 0.13 and may be removed in the future, "
                          f"please use '{name}' instead.")
            given = kwargs.pop(self.old)
        if given is not None and not isinstance(given, (str, WeightsEnum)):
            warnings.warn(f"Arguments other than a weight enum or `None` for '{name}' are deprecated since 0.13 and "
                          "may be removed in the future.")
            first = self._meant(given)
            if given and first is None:
                raise ValueError(f"No weights available for model {who}")
            given = first if given else None
        kwargs[name] = self.enum.verify(given)

    def _meant(self, given):
        if given == "legacy" and "COCO_LEGACY" in self.enum.__members__:
            return self.enum["COCO_LEGACY"]
        return self.enum[self.member] if self.member else next(iter(self.enum), None)

    def annotation(self):
        """Return the type of the argument."""
        return Optional[self.enum]


def publish(namespace, name, call, parameters, listed=None):
    """Define a model's function in a module, and list it.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    name : str
        The function's name.
    call : Callable
        Makes the model, from keyword arguments that are all there.
    parameters : Dict[str, Any]
        The named arguments in their order, with defaults; a `Choice` for a checkpoint.
    listed : str, optional
        The name among the models; the function's otherwise.

    """
    def build(*args, **kwargs):
        if args:
            names = list(parameters)
            if len(args) > len(names):
                raise TypeError(f"{name}: got {len(args)} arguments by position, expected at most {len(names)}")
            warnings.warn(f"Using {sequence_to_str(names[:len(args)], separate_last='and ')} as positional "
                          "parameter(s) is deprecated since 0.13 and may be removed in the future. Please use keyword "
                          "parameter(s) instead.")
            kwargs.update(zip(names, args))
        for parameter, default in parameters.items():
            if isinstance(default, Choice):
                default.settle(name, parameter, kwargs)
            else:
                kwargs.setdefault(parameter, default)
        return call(**kwargs)
    build.__name__ = build.__qualname__ = name
    build.__module__ = namespace["__name__"]
    known = parameters["weights"].enum.__name__
    build.__doc__ = f"Return the model {name}, with a checkpoint of `{known}` if one is named."
    keyword = inspect.Parameter.KEYWORD_ONLY
    build.__signature__ = inspect.Signature([
        inspect.Parameter(parameter, keyword, default=default.default, annotation=default.annotation())
        if isinstance(default, Choice) else inspect.Parameter(parameter, keyword, default=default)
        for parameter, default in parameters.items()] + [
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])
    namespace[name] = register_model(listed)(build)


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

    def call(weights, progress, **kwargs):
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
    publish(namespace, name, call, {"weights": Choice(enum), "progress": True})
