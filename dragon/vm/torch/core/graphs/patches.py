"""Functions that stay calls while code is traced, and what takes their places for that time."""
import builtins
import functools
import inspect
import types

from dragon.vm.torch.fx.proxy import Proxy

MARKED_FUNCTIONS, MARKED_METHODS = {}, []  # {(id of a namespace, name): (namespace, name)}; [(class, name)]
PROXYABLE = {}  # classes of whose instances graphs have constants
MARK = "__fx_already_patched"


def wrap(fn_or_name):
    """Have calls of a function stay calls while code is traced, where a stand-in is among their arguments.

    To be called at the top of the module whose code calls the function; also as a decorator.

    Parameters
    ----------
    fn_or_name : Union[str, Callable]
        The function, or its name in the module, as "len".

    Returns
    -------
    Union[str, Callable]
        The same.

    Examples
    --------
    >>> @torch.fx.wrap
    ... def twice(x):
    ...     return x * 2

    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    if callable(fn_or_name):
        if isinstance(fn_or_name, str):
            raise AssertionError("torch.fx.wrap: got a callable str, expected a function or a name")
        name = getattr(fn_or_name, "__name__", None)
    else:
        name = fn_or_name
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    MARKED_FUNCTIONS[id(frame.f_globals), name] = frame.f_globals, name
    return fn_or_name


def stand_in_of(args, kwargs):
    """Return a stand-in among arguments, also deep within, or None."""
    found = [None]

    def look(value):
        if found[0] is None and isinstance(value, Proxy):
            found[0] = value

    def walk(value):
        if isinstance(value, (list, tuple, set)):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, slice):
            for item in (value.start, value.stop, value.step):
                walk(item)
        else:
            look(value)
    walk(args)
    walk(kwargs)
    return found[0]


def noting(original):
    """Return a function that adds a node where a stand-in is among its arguments."""
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        proxy = stand_in_of(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", original, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made
    return wrapped


def noting_method(owner, name):
    """Return a method that adds a node where a stand-in is among its arguments."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        proxy = stand_in_of(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)
    return wrapped


class Patcher:
    """Put other things into places for the time of a `with` block."""

    def __init__(self):
        self.undo, self.seen, self.later = [], set(), []

    def __enter__(self):
        return self

    def settle(self):
        """Do what must wait until the function's inputs are there."""
        while self.later:
            self.later.pop(0)()

    def set(self, owner, name, value, is_mark=True):
        """Set an attribute."""
        before = getattr(owner, name)
        self._mark(value, is_mark)
        self.undo.append(lambda: setattr(owner, name, before))
        setattr(owner, name, value)

    def set_item(self, namespace, name, value, is_mark=True):
        """Set an item of a dictionary."""
        missing = name not in namespace
        before = namespace.get(name)
        self._mark(value, is_mark)

        def restore():
            if missing:
                namespace.pop(name, None)
            else:
                namespace[name] = before
        self.undo.append(restore)
        namespace[name] = value

    @staticmethod
    def _mark(value, is_mark):
        if is_mark and isinstance(value, types.FunctionType):
            setattr(value, MARK, True)

    def wrap_item(self, namespace, name):
        """Have a function of a namespace, or a builtin, add nodes."""
        original = namespace[name] if name in namespace else getattr(builtins, name, None)
        if original is None or hasattr(original, MARK):
            return
        self.set_item(namespace, name, noting(original))

    def wrap_method(self, owner, name):
        """Have a method of a class add nodes."""
        if not hasattr(getattr(owner, name), MARK):
            self.set(owner, name, noting_method(owner, name))

    def wrap_marked(self):
        """Have all that `wrap` was told of add nodes."""
        for namespace, name in list(MARKED_FUNCTIONS.values()):
            self.wrap_item(namespace, name)
        for owner, name in MARKED_METHODS:
            self.wrap_method(owner, name)

    def wrap_globals(self, namespace, ids):
        """Have the functions of a namespace that are known by their ids add nodes."""
        if id(namespace) in self.seen or not ids:
            return
        self.seen.add(id(namespace))
        for name, value in list(namespace.items()):
            if not name.startswith("_") and callable(value) and id(value) in ids:
                self.wrap_item(namespace, name)

    def __exit__(self, *_):
        while self.undo:
            self.undo.pop()()
        self.seen.clear()


def carried(function, count, named, rest):
    """Return a function of places alone: its last arguments are those that another takes as `*args` and `**kwargs`.

    Parameters
    ----------
    function : Callable
        The other.
    count : int
        How many arguments come before.
    named : int
        How many of these it takes by name alone.
    rest : List[str]
        "*", "**", or both.

    Returns
    -------
    Callable
        The function.

    """
    flags = function.__code__.co_flags
    code = function.__code__.replace(
        co_argcount=count + len(rest), co_kwonlyargcount=0, co_posonlyargcount=0,
        co_flags=flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                              function.__closure__)
    made.__annotations__ = function.__annotations__
    made.__kwdefaults__ = None
    return made
