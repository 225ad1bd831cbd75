"""Context managers that leave no gap for an interrupt.

Python runs signal handlers when a function of its own begins, and after calls of C functions. What a handler raises
there ends an `__exit__` before its first line, and loses what a setter has just returned. The classes below change
something and note how to undo it in one call of C's, and undo everything in one call.
"""
import contextlib
import functools

from dragon import _C

ExitStack = _C.ExitStack


class Scope(_C.Scope, contextlib.ContextDecorator):
    """A context manager; a subclass has a method `_enter_scope(exits)`, which makes changes by an ExitStack's methods.

    Objects may be entered again while they are entered, and stand as decorators.
    """


class _FunctionScope(Scope):
    """A context manager whose changes a function makes."""

    def __init__(self, function, args, kwargs):
        self._call = function, args, kwargs

    def _recreate_cm(self):
        return type(self)(*self._call)  # threads that share a decorated function must not share a stack

    def _enter_scope(self, exits):
        """Make the changes; return what `with` binds."""
        function, args, kwargs = self._call
        return function(exits, *args, **kwargs)


class _Generated(_C.GeneratorScope, contextlib.ContextDecorator):
    """A context manager made of a generator."""

    def __init__(self, function, args, kwargs):
        self._call = function, args, kwargs

    def _recreate_cm(self):
        return type(self)(*self._call)

    def _make_generator(self):
        """Return a new generator."""
        function, args, kwargs = self._call
        return function(*args, **kwargs)


def scope(function):
    """Make context managers of a function that is called with an ExitStack when a block begins.

    Parameters
    ----------
    function : Callable
        Its first argument is the ExitStack: `stack.switch(setter, value)`, `stack.set(object, name, value)`,
        `stack.push(list, item)`, `stack.take(list)`, `stack.callback(function, *args)`. What it returns is what `with`
        binds.

    Returns
    -------
    Callable
        Takes the other arguments; returns the context manager.

    """
    @functools.wraps(function)
    def make(*args, **kwargs):
        return _FunctionScope(function, args, kwargs)
    return make


def contextmanager(function):
    """Make context managers of a generator function, as `contextlib.contextmanager` does, but without its gaps.

    An interrupt may still come between two calls of the generator itself: what it changes belongs into its `try`, and
    what undoes that is one call of C's.

    Parameters
    ----------
    function : Callable
        Yields once.

    Returns
    -------
    Callable
        Returns the context manager.

    """
    @functools.wraps(function)
    def make(*args, **kwargs):
        return _Generated(function, args, kwargs)
    return make
