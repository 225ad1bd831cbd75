"""Sentences of methods are told once, where they are first defined; those of functions where they are named."""


def inherit_sentences(cls):
    """Give the methods and properties of a class that have no docstring that of what they override."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and hasattr(member, "__get__") and member.__doc__ is None:
            member.__doc__ = getattr(super(cls, cls), name, None).__doc__


def named(function, name, sentence):
    """Return a function under its name and with its docstring, for families that are made in a loop."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = sentence
    return function
