"""Context managers that decorate: functions, generator functions, coroutines and (as of old) classes."""
import functools
import inspect

from dragon import _C
from dragon.core import warnings


def context_decorator(ctx, func):
    """Return a function that runs within a context.

    Parameters
    ----------
    ctx : Union[ContextManager, Callable[[], ContextManager]]
        One context manager for all calls, or what makes one for each call.
    func : Callable
        What is wrapped. A generator function gets the context around each of its steps, a class around `__init__`.

    Returns
    -------
    Callable
        The wrapped function; a class is changed and returned itself.

    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise RuntimeError(f"context_decorator: got {ctx}, which is a context manager and a function that makes one; "
                           f"expected one of the two")
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        warnings.warn("Decorating classes is deprecated; decorate their methods. Only `__init__` is decorated.",
                      FutureWarning)
        func.__init__ = context_decorator(make, func.__init__)
        return func
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(make, func)

    @functools.wraps(func)
    def decorate_context(*args, **kwargs):
        with make():
            return func(*args, **kwargs)
    return decorate_context


def _wrap_generator(make, func):
    """Return a generator function whose steps run within the context, and whose caller's code does not."""
    @functools.wraps(func)
    def generator_context(*args, **kwargs):
        generator = func(*args, **kwargs)
        step, value = generator.send, None
        try:
            while True:
                with make():
                    response = step(value)
                try:
                    step, value = generator.send, (yield response)
                except GeneratorExit:
                    with make():
                        generator.close()
                    raise
                except BaseException as error:
                    step, value = generator.throw, error
        except StopIteration as stop:
            return stop.value
    return generator_context


class _DecoratorContextManager(_C.Scope):
    """A context manager that may decorate; every call enters a copy of its own."""

    def __call__(self, orig_func):
        if inspect.isclass(orig_func):
            warnings.warn("Decorating classes is deprecated; decorate their methods. Only `__init__` is decorated.",
                          FutureWarning)
            orig_func.__init__ = context_decorator(self.clone, orig_func.__init__)
            return orig_func
        return context_decorator(self.clone, orig_func)

    def _enter_scope(self, exits):
        """Change what the block is to find changed; see `dragon.core.scopes`."""
        raise NotImplementedError(f"{type(self).__name__}: got no __enter__, expected one")

    def clone(self):
        """Return a context manager that does the same."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One without arguments: `@name` does what `@name()` does."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)
