"""The engine's errors say PyTorch's sentences as well, and are caught as what PyTorch raises."""
import functools

from dragon import _C

SPEAKING = ("InvalidValue", "InvalidType", "InvalidIndex", "Unsupported", "EngineError", "LinAlgError")
CLASSES = {"IndexError": _C.InvalidIndex, "TypeError": _C.InvalidType, "NotImplementedError": _C.Unsupported,
           "ValueError": _C.InvalidValue, "AssertionError": AssertionError}


def known(letter):
    """Return the sentence and the class of errors that PyTorch has for a letter, or (None, None)."""
    from dragon.vm.torch.core.known.rows import ROWS  # programs without errors need no table
    for row in ROWS:
        sentence = row.sentence(letter)
        if sentence is not None:
            return sentence, row.kind
    return None, None


@functools.cache
def both(kind, name):
    """Return the class of errors that are of one of the engine's and, by the name of Python's, of another one."""
    other = CLASSES[name]
    facts = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__,
             "__reduce__": lambda self: (kind, self.args)}  # which finds its class anew
    return kind if issubclass(kind, other) else type(kind.__name__, (kind, other), facts)


def tell(error, *args):
    """Make one of the engine's errors."""
    if len(args) == 1 and isinstance(args[0], str):
        sentence, name = known(args[0])
        if sentence and sentence not in args[0]:
            args = (f"{args[0]}. {sentence}",)
        if name and type(error).__module__ == _C.InvalidValue.__module__:
            error.__class__ = both(type(error), name)
    Exception.__init__(error, *args)


def adopt():
    """Have the engine's errors tell PyTorch's sentences from now on."""
    for name in SPEAKING:
        getattr(_C, name).__init__ = tell
