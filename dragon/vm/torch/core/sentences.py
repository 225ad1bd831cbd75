"""Sentences are told once: those of methods where they are first defined, those of parameters in a family's table."""
import inspect
import re

_ENTRY = re.compile(r"    (\w[\w, *]*?) : .*\n(?:        .*\n|\n(?=        ))+")


def inherit_sentences(cls):
    """Give the methods and properties of a class that have no docstring that of what they override."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and hasattr(member, "__get__") and member.__doc__ is None:
            member.__doc__ = getattr(super(cls, cls), name, None).__doc__


def complete_parameters(thing, told):
    """Add to a docstring the parameters that it leaves to the family's table.

    Parameters
    ----------
    thing : Callable
        A class or function, whose docstring tells its parameters first, or none.
    told : Dict[str, Tuple[str, str]]
        Types and sentences by names. Where some parameter stays untold the docstring is left as it is.

    """
    doc, returns, results = (thing.__doc__ or "").partition("    Returns\n    -------\n")
    head, _, own = doc.partition("    Parameters\n    ----------\n")
    entries = {name: match[0] for match in _ENTRY.finditer(own) for name in match[1].split(", ")}
    names = inspect.signature(thing).parameters
    if not head or any(name not in entries and name not in told for name in names):
        return
    for name, parameter in names.items():
        if name not in entries:
            kind, sentence = told[name]
            if parameter.default is not parameter.empty:
                kind += ", optional" if parameter.default is None else f", optional, default={parameter.default!r}"
            entries[name] = f"    {name} : {kind}\n        {sentence}\n"
    section = "".join(dict.fromkeys(entries[name] for name in names))
    thing.__doc__ = f"{head.rstrip()}\n\n    Parameters\n    ----------\n{section}\n    {(returns + results).lstrip()}"


def named(function, name, sentence):
    """Return a function under its name and with its docstring, for families that are made in a loop."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = sentence
    return function
