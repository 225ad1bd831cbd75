"""Layers that hold options and apply one function of `torch.nn.functional` to their inputs: one line tells both.

`class ELU(Applied, call="elu(input; alpha=1.0, inplace=False)")` reads as in mathematics: parameters stand behind the
semicolon. ELU takes them when it is made, keeps them as attributes of these names, shows them, and gives them to the
function at each call, as they are then. What the function is given beside them stands there too: words with an
underscore, and what is read from the layer, such as `training=self.training`. A line that names no options of its own
means those of the class above, which writes its `__init__` itself.
"""
import inspect
import linecache

from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class _Written:
    """A method that is written when it is first asked for: few programs use more than a few layers."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __get__(self, instance, kind=None):
        _write(self.owner, self.name)
        return vars(self.owner)[self.name].__get__(instance, kind)


class Applied(Module):
    """The base of these layers; one that shows itself otherwise has an `extra_repr` of its own."""

    _options = ()
    _settled = ()  # options that the function is not given
    _shown = None  # options that `repr` shows, where these are not all

    def __init_subclass__(cls, call=None, **kwargs):
        super().__init_subclass__(**kwargs)
        if call is None:
            return
        function, _, told = call[:-1].partition("(")
        inputs, _, told = told.partition("; ")
        words = told.split(", ") if told else []
        cls._call = function, *inputs.split(", ")
        cls._given = [word for word in words if "self." in word or word[0] == "_"]
        cls._taken = taken = [word for word in words if word not in cls._given]
        if taken:
            cls._options = [word.partition("=")[0] for word in taken if word != "*"]
            cls.__init__ = _Written(cls, "__init__")
            if "__constants__" not in vars(cls):
                cls.__constants__ = [name for name in cls._options if name not in cls._settled]
        cls.forward = _Written(cls, "forward")

    def extra_repr(self):
        """Return the options as text."""
        cls = type(self)
        names = [name for name in cls._options if name != "inplace"] if cls._shown is None else cls._shown
        shown = [f"{name}={getattr(self, name)}" for name in names]
        return ", ".join(shown + ["inplace=True"] * bool("inplace" in cls._options and getattr(self, "inplace", 0)))


def _write(owner, name):
    """Put a method of a class in its place, as its line tells it."""
    if name == "__init__":
        # What the class above takes is for it to keep. Others may have wrapped its `__init__` by now.
        above = list(inspect.signature(super(owner, owner).__init__).parameters)[1:]
        lines = [f"super().__init__({', '.join(f'{word}={word}' for word in owner._options if word in above)})",
                 *(f"self.{word} = {word}" for word in owner._options if word not in above)]
        head, doc = ["self", *owner._taken], None
    else:
        function, *inputs = owner._call
        lines, head = [f"return F.{function}({_arguments(owner, function, inputs)})"], ["self", *inputs]
        doc = f"Return `torch.nn.functional.{function}` of the input, with the options of the layer."
    source = ["def write(__class__):", f"    def {name}({', '.join(head)}):", *(" " * 8 + line for line in lines),
              f"    return {name}"]
    # Within Dragon's folder, as warnings and errors ask whose line it was; tracebacks read the source there.
    file = f"{inspect.getfile(owner)}:{owner.__qualname__}.{name}"
    linecache.cache[file] = len(source), None, [line + "\n" for line in source], file
    exec(compile("\n".join(source), file, "exec"), space := {"__name__": owner.__module__, "F": F})
    made = space["write"](owner)
    made.__qualname__, made.__doc__ = f"{owner.__qualname__}.{name}", doc
    setattr(owner, name, made)


def _arguments(owner, function, inputs):
    """Return the arguments of a call as text: by place as long as the order is the function's, which is faster."""
    plain = [word for word in inputs if "=" not in word]
    named = {word.partition("=")[0]: word.partition("=")[0] for word in inputs if word not in plain}
    named.update((word, f"self.{word}") for word in owner._options if word not in owner._settled)
    named.update(word.split("=") for word in owner._given)
    order = list(inspect.signature(getattr(F, function)).parameters)[len(plain):]
    by_place = [value for place, (word, value) in enumerate(named.items()) if order[:place + 1] == [*named][:place + 1]]
    by_name = [f"{word}={value}" for word, value in [*named.items()][len(by_place):]]
    return ", ".join(plain + by_place + by_name)
