"""Decorators and looks at functions: `util.tf_export`, `deprecation`, `tf_decorator`, `tf_inspect`, `tf_contextlib`."""
import contextlib
import functools
import inspect

from dragon.core.scopes import contextmanager


class api_export:
    """A decorator that leaves functions as they are: public names are modules' own here.

    Parameters
    ----------
    *names : str
        The public names.
    **options : Any
        `v1`, `allow_multiple_exports` and the like.

    """

    def __init__(self, *names, **options):
        self.names, self.options = names, options

    def __call__(self, value):
        return value

    def export_constant(self, module_name, name):
        """Do nothing."""


def _passing(*args, **kwargs):
    """Return a decorator that leaves a function as it is: its age is not told."""
    return lambda function: function


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """Return a function or class, which is an older name's."""
    return func_or_class


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """Return an argument that has an older name as well."""
    if old_value is not None and new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return new_value if old_value is None else old_value


@contextmanager
def silence():
    """Do nothing: no age is told."""
    yield


def kwarg_only(function):
    """Return a function that takes its arguments by name alone."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if args:
            raise TypeError(f"{function.__name__} only takes keyword args (possible keys: "
                            f"{list(inspect.signature(function).parameters)}). Please pass these args as kwargs "
                            "instead.")
        return function(**kwargs)
    return wrapped


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """Return a function dressed as another one."""
    return functools.wraps(target)(decorator_func)


def unwrap(maybe_tf_decorator):
    """Return (the decorators around a function, the innermost function)."""
    found = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        found.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return found, maybe_tf_decorator


_OF_INSPECT = ("currentframe getcallargs getdoc getfile getfullargspec getmembers getmodule getmro getsource "
               "getsourcefile getsourcelines isbuiltin isclass isframe isfunction isgenerator isgeneratorfunction "
               "ismethod ismodule isroutine signature stack").split()
_AGES = ("deprecated deprecated_args deprecated_arg_values deprecated_endpoints").split()
MEMBERS = {
    "util.tf_export": {"api_export": api_export, "tf_export": api_export, "keras_export": api_export,
                       "estimator_export": api_export, "kwarg_only": kwarg_only},
    "util.deprecation": {**dict.fromkeys(_AGES, _passing), "deprecated_alias": deprecated_alias,
                         "deprecated_argument_lookup": deprecated_argument_lookup, "silence": silence},
    "util.tf_decorator": {"make_decorator": make_decorator, "unwrap": unwrap},
    "util.tf_inspect": {name: getattr(inspect, name) for name in _OF_INSPECT},
    "util.tf_contextlib": {"contextmanager": contextlib.contextmanager},
}
