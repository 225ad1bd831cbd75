"""Classes of pipes as methods of all pipes, and what decorators say and check of them."""
import functools
import inspect
from typing import get_type_hints

from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe


class functional_datapipe:
    """Make the decorated class a method of all pipes of its kind.

    Parameters
    ----------
    name : str
        The method's name.
    enable_df_api_tracing : bool, optional, default=False
        Must be False: there are no data frames.

    """

    def __init__(self, name, enable_df_api_tracing=False):
        if enable_df_api_tracing:
            raise NotImplementedError("functional_datapipe: got enable_df_api_tracing=True, expected False")
        self.name = name

    def __call__(self, cls):
        kind = next((kind for kind in (IterDataPipe, MapDataPipe) if issubclass(cls, kind)), None)
        if kind is None:
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind.register_datapipe_as_function(self.name, cls)
        return cls


_guaranteed = [False]


class guaranteed_datapipes_determinism:
    """Refuse pipes that draw at random, from here on or within a `with` block."""

    def __init__(self):
        self.previous, _guaranteed[0] = _guaranteed[0], True

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _guaranteed[0] = self.previous


def non_deterministic(arg):
    """Mark a class of pipes as one that draws at random: always, or where a function of its arguments says so."""
    def mark(cls, draws):
        if not (isinstance(cls, type) and issubclass(cls, IterDataPipe)):
            raise TypeError("Only `IterDataPipe` can be decorated with `non_deterministic`, but "
                            f"{getattr(cls, '__name__', cls)} is found")

        def make(*args, **kwargs):
            found = draws(*args, **kwargs)
            if not isinstance(found, bool):
                raise TypeError("deterministic_fn of `non_deterministic` decorator is required to return a boolean "
                                f"value, but {type(found)} is found")
            if found and _guaranteed[0]:
                raise TypeError(f"{cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. "
                                "You can turn off determinism for this DataPipe if that is acceptable for your "
                                "application")
            return cls(*args, **kwargs)
        return make
    if isinstance(arg, type):
        return mark(arg, lambda *args, **kwargs: True)
    if not callable(arg):
        raise TypeError(f"{arg} can not be decorated by non_deterministic")
    return lambda cls: mark(cls, arg)


def argument_validation(f):
    """Check that arguments are pipes where annotations say so."""
    signature, hints = inspect.signature(f), get_type_hints(f)

    @functools.wraps(f)
    def checked(*args, **kwargs):
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            wanted = isinstance(hints.get(name), type) and issubclass(hints[name], (IterDataPipe, MapDataPipe))
            if wanted and not isinstance(value, (IterDataPipe, MapDataPipe)):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
        return f(*args, **kwargs)
    return checked


_validated = [True]


class runtime_validation_disabled:
    """Check no samples, from here on or within a `with` block."""

    def __init__(self):
        self.previous, _validated[0] = _validated[0], False

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _validated[0] = self.previous


def runtime_validation(f):
    """Check that the samples of an `__iter__` are of the class that the pipe names as its `type`, if it names one."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def checked(self):
        for sample in f(self):
            wanted = vars(type(self)).get("type")
            if _validated[0] and isinstance(wanted, type) and not isinstance(sample, wanted):
                raise RuntimeError(f"Expected an instance as subtype of {wanted}, but found {sample}({type(sample)})")
            yield sample
    return checked
