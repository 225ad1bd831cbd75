"""A loss class about a function of targets and predictions; all losses that are known by name are such."""
import inspect

from dragon import _C
from dragon.vm.keras.core.registry import deserialize, serialize
from dragon.vm.keras.losses.loss import Loss, squeeze_or_expand_to_same_rank


class LossFunctionWrapper(Loss):
    """A loss made of a function.

    Parameters
    ----------
    fn : Callable
        Called with targets and predictions; returns one value per sample.
    dtype : Union[str, DTypePolicy], optional
        What it computes in.
    **kwargs
        More arguments of the function.

    """

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        """Return the function's values, of targets and predictions of one rank."""
        if isinstance(y_pred, _C.Tensor) and isinstance(y_true, _C.Tensor):
            y_true, y_pred = squeeze_or_expand_to_same_rank(y_true, y_pred)
        else:
            from dragon.vm.keras.core import tree

            pairs = tree.map_structure(squeeze_or_expand_to_same_rank, y_true, y_pred)
            y_true = tree.map_structure_up_to(y_true, lambda pair: pair[0], pairs)
            y_pred = tree.map_structure_up_to(y_pred, lambda pair: pair[1], pairs)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        """Return the arguments that make the same loss again, the function among them."""
        return {**super().get_config(), "fn": serialize(self.fn), **serialize(self._fn_kwargs)}

    @classmethod
    def from_config(cls, config):
        """Return the loss that `get_config` described."""
        return cls(**(deserialize(config) if "fn" in config else config))

    def __repr__(self):
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"


class NamedLoss(LossFunctionWrapper):
    """A loss whose function is its own: the options are attributes, and are what a file keeps.

    `class Hinge(NamedLoss, function=hinge)` takes the function's options, and then what all losses take.
    """

    def __init__(self, fn, reduction, name, dtype, **options):
        super().__init__(fn, reduction=reduction, name=name, dtype=dtype, **options)
        for option, value in options.items():
            setattr(self, option, value)

    def __init_subclass__(cls, function=None, name=None, **kwargs):
        if function is not None:
            shared = {"reduction": "sum_over_batch_size", "name": name or function.__name__, "dtype": None}
            cls.__init__ = initializer_of(cls, NamedLoss, function, {**options_of(function), **shared})
        super().__init_subclass__(**kwargs)


def options_of(function):
    """Return the arguments of a function that have defaults, and these."""
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()
            if parameter.default is not parameter.empty}


def initializer_of(cls, base, function, defaults):
    """Return the `__init__` of a class about a function: it gives all its arguments to that of a base.

    It is written as text and then run, as `dataclasses` does it, so that errors name it and its arguments.

    Parameters
    ----------
    cls, base : type
        The class that it is for, and the one whose `__init__` it calls.
    function : Callable
        What the class is about, the first argument of that one.
    defaults : Dict[str, Any]
        The arguments in their order.

    """
    told, given = ", ".join(defaults), ", ".join(f"{name}={name}" for name in defaults)
    space = {"__name__": cls.__module__, "base": base, "function": function}
    exec(f"def __init__(self, {told}):\n    base.__init__(self, function, {given})", space)
    initialize = space["__init__"]
    initialize.__defaults__ = tuple(defaults.values())
    initialize.__qualname__ = f"{cls.__qualname__}.__init__"
    return initialize
