"""The name and the sentence of a function that is made in a loop."""


def named(function, name, sentence):
    """Return a function under its name and with its docstring, for families that are made in a loop."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = sentence
    return function
