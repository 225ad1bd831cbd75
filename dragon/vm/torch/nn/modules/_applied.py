"""Layers that hold options and apply one function to their inputs: one line tells both.

The function is one of `torch.nn.functional`, or else of the layer's own module.

`class ELU(Applied, call="elu(input; alpha=1.0, inplace=False)")` reads as in mathematics: parameters stand behind the
semicolon. ELU takes them when it is made, keeps them as attributes of these names, shows them, and gives them to the
function at each call, as they are then. What the function is given beside them stands there too: words with an
underscore, and what is read from the layer, such as `training=self.training`. A line that names no options of its own
means those of the class above, which writes its `__init__` itself.

`class RandomInvert(Keeping, takes="p=0.5")` tells of options alone: what is done with them the class says itself.
A class that has to check or to complete what it has taken does so in `_settle`.
"""
import inspect
import linecache
import re
import sys

from dragon.vm.guest import name_of
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


BETWEEN = re.compile(r", (?![^()]*\))")  # words; those of a pair's brackets are within one


class _Written:
    """A method that is written when it is first asked for: few programs use more than a few layers."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __get__(self, instance, kind=None):
        _write(self.owner, self.name)
        return vars(self.owner)[self.name].__get__(instance, kind)


class Keeping(Module):
    """The base of layers whose line names their options."""

    def __init_subclass__(cls, takes=None, **kwargs):
        super().__init_subclass__(**kwargs)
        if takes is not None:
            cls._taken = BETWEEN.split(takes)
            cls.__init__ = _Written(cls, "__init__")


class Applied(Keeping):
    """The base of layers that apply a function; one that shows itself otherwise has an `extra_repr` of its own."""

    _options = ()
    _settled = ()  # options that the function is not given
    _shown = None  # options that `repr` shows, where these are not all

    def __init_subclass__(cls, call=None, takes=None, **kwargs):
        if call is not None:
            function, _, told = call[:-1].partition("(")
            inputs, _, told = told.partition("; ")
            words = BETWEEN.split(told) if told else []
            cls._call = function, *inputs.split(", ")
            cls._given = [word for word in words if "self." in word or word[0] == "_"]
            takes = ", ".join(word for word in words if word not in cls._given) or None
            cls.forward = _Written(cls, "forward")
        super().__init_subclass__(takes=takes, **kwargs)
        if takes is not None:
            cls._options = _names_of(cls._taken)
            if "__constants__" not in vars(cls):
                cls.__constants__ = [name for name in cls._options if name not in cls._settled]

    def extra_repr(self):
        cls = type(self)
        names = [name for name in cls._options if name != "inplace"] if cls._shown is None else cls._shown
        shown = [f"{name}={getattr(self, name)}" for name in names]
        return ", ".join(shown + ["inplace=True"] * bool("inplace" in cls._options and getattr(self, "inplace", 0)))


def _names_of(taken):
    """Return the names of arguments, of which some have defaults."""
    return [word.partition("=")[0] for word in taken if word != "*"]


def _write(owner, name):
    """Put a method of a class in its place, as its line tells it."""
    functions = F
    if name == "__init__":
        # What the class above takes is for it to keep. Others may have wrapped its `__init__` by now.
        above = list(inspect.signature(super(owner, owner).__init__).parameters)[1:]
        names = _names_of(owner._taken)
        lines = [f"super().__init__({', '.join(f'{word}={word}' for word in names if word in above)})",
                 *(f"self.{word} = {word}" for word in names if word not in above),
                 *["self._settle()"] * hasattr(owner, "_settle")]
        head, doc = ["self", *owner._taken], None
    else:
        function, *inputs = owner._call
        functions = F if hasattr(F, function) else sys.modules[owner.__module__]
        lines = [f"return F.{function}({_arguments(owner, getattr(functions, function), inputs)})"]
        head = ["self", *inputs]
        doc = f"Return `{name_of(functions.__name__)}.{function}` of the input, with the options of the layer."
    source = ["def write(__class__):", f"    def {name}({', '.join(head)}):", *(" " * 8 + line for line in lines),
              f"    return {name}"]
    # Within Dragon's folder, as warnings and errors ask whose line it was; tracebacks read the source there.
    file = f"{inspect.getfile(owner)}:{owner.__qualname__}.{name}"
    linecache.cache[file] = len(source), None, [line + "\n" for line in source], file
    exec(compile("\n".join(source), file, "exec"), space := {"__name__": owner.__module__, "F": functions})
    made = space["write"](owner)
    made.__qualname__, made.__doc__ = f"{owner.__qualname__}.{name}", doc
    setattr(owner, name, made)


def _arguments(owner, function, inputs):
    """Return the arguments of a call as text: by place as long as the order is the function's, which is faster."""
    plain = [word for word in inputs if "=" not in word]
    named = {word.partition("=")[0]: word.partition("=")[0] for word in inputs if word not in plain}
    named.update((word, f"self.{word}") for word in owner._options if word not in owner._settled)
    named.update(word.split("=") for word in owner._given)
    order = list(inspect.signature(function).parameters)[len(plain):]
    by_place = [value for place, (word, value) in enumerate(named.items()) if order[:place + 1] == [*named][:place + 1]]
    by_name = [f"{word}={value}" for word, value in [*named.items()][len(by_place):]]
    return ", ".join(plain + by_place + by_name)
