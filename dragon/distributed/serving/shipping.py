"""Functions and what they hold as bytes, for a process that has not run the program that defined them.

What a process can import travels by its name. Functions and classes of the program itself travel as what they are:
code, defaults, closures, and those globals that the code names. Versions of Python must be equal, which connections
look at.
"""
import builtins
import importlib
import io
import linecache
import marshal
import os
import pickle
import sys
import sysconfig
import threading
import types
import weakref

LOCKS = (type(threading.Lock()), type(threading.RLock()))
# Types that have names in `types` alone.
NAMED_TYPES = {kind: name for name, kind in vars(types).items() if isinstance(kind, type)
               and getattr(builtins, kind.__name__, None) is not kind and name.endswith("Type")}
PROGRAM = (None, "__main__", "__mp_main__")  # modules that are another thing in another process
INSTALLED = tuple(os.path.realpath(path) + os.sep for path in (
    os.path.dirname(sys.modules["dragon"].__file__), *map(sysconfig.get_path, ("stdlib", "purelib", "platlib"))))
OWN = ("__dict__", "__weakref__", "__module__", "__qualname__", "__slots__", "__firstlineno__", "__static_attributes__")


class Shipper(pickle.Pickler):
    """Turn objects into bytes.

    Parameters
    ----------
    file : BinaryIO
        Where bytes go.
    name_of : Callable[[Any], Any], optional
        Returns what an object is known as on the other side, or None for what travels itself.
    reducers : Dict[type, Callable], optional
        For classes, what `__reduce_ex__` would return of an object.

    """

    def __init__(self, file, name_of=None, reducers=None):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._name_of, self._reducers, self._namespaces = name_of, reducers or {}, {}

    def persistent_id(self, value):
        """Return what an object is known as, or None."""
        return None if self._name_of is None else self._name_of(value)

    def reducer_override(self, value):
        """Return how an object is made again, where pickle does not know it."""
        kind = type(value)
        for base in kind.__mro__ if self._reducers else ():
            if base in self._reducers:
                return self._reducers[base](value)
        if kind is types.FunctionType:
            return NotImplemented if _is_found(value) else self._of_function(value)
        if isinstance(value, type):
            if value in NAMED_TYPES:
                return getattr, (types, NAMED_TYPES[value])
            return NotImplemented if _is_found(value) else self._of_class(value)
        if kind is types.ModuleType:
            return importlib.import_module, (value.__name__,)
        if kind is types.CellType:
            return _make_cell, (), (_filled(value),), None, None, _fill
        if kind is property:
            return property, (value.fget, value.fset, value.fdel, value.__doc__)
        if kind in (classmethod, staticmethod):
            return kind, (value.__func__,)
        if kind in LOCKS:
            return (threading.Lock if kind is LOCKS[0] else threading.RLock), ()
        if kind is weakref.ref:
            return weakref.ref, (value(),)
        if kind is types.MappingProxyType:
            return _make_proxy, (dict(value),)
        return NotImplemented

    def _of_function(self, function):
        code = function.__code__
        module = function.__globals__.get("__name__")  # a decorator may have named another one as the function's
        space = self._namespaces.setdefault(id(function.__globals__), Namespace(module))
        named = {} if _is_installed(module) else {
            name: function.__globals__[name] for name in _names(code) if name in function.__globals__}
        names = function.__doc__, function.__qualname__, function.__module__
        state = (named, function.__defaults__, function.__kwdefaults__, function.__dict__,
                 [_filled(cell) for cell in function.__closure__ or ()], names)
        # Cells may hold the function itself, so they are made first, and filled at the end.
        cells = tuple(function.__closure__ or ())
        made = (marshal.dumps(code), space, function.__name__, _source(code.co_filename), cells)
        return _make_function, made, state, None, None, _complete_function

    def _of_class(self, kind):
        facts = {name: value for name, value in vars(kind).items() if name not in OWN
                 and not isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType))}
        slots = vars(kind).get("__slots__")
        made = type(kind), kind.__name__, kind.__bases__, kind.__module__, kind.__qualname__, slots
        return _make_class, made, facts, None, None, _complete_class


class Namespace:
    """The globals of a module, for all functions of one parcel; they are the module's own where it can be imported.

    Parameters
    ----------
    module : str
        The module's name.

    """

    def __init__(self, module):
        self._module, self.values = module, {"__name__": module, "__builtins__": builtins}
        if module not in PROGRAM:
            try:
                self.values = vars(importlib.import_module(module))
            except ImportError:  # a module that only the program finds
                pass

    def __reduce__(self):
        return Namespace, (self._module,)


def _is_found(value):
    """Return whether another process finds an object by its name."""
    if value.__module__ in PROGRAM:
        return False
    found = sys.modules.get(value.__module__)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def _is_installed(module):
    """Return whether another process has a module: a part of Dragon, of Python or of an installed package."""
    path = getattr(sys.modules.get(module), "__file__", None)
    return path is not None and module not in PROGRAM and os.path.realpath(path).startswith(INSTALLED)


def _names(code):
    """Return the names of globals that code and the functions in it may read."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _filled(cell):
    """Return what a cell holds, in a tuple; an empty one for a cell that holds nothing yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _make_cell():
    return types.CellType()


def _make_proxy(values):
    return types.MappingProxyType(values)


def _fill(cell, state):
    if state[0]:
        cell.cell_contents = state[0][0]


def _source(path):
    """Return a file's path and lines: what rewrites functions looks at their text."""
    lines = linecache.getlines(path)
    return path, "".join(lines)


def _make_function(code, space, name, source, cells):
    path, text = source
    if text and not os.path.exists(path):
        linecache.cache[path] = len(text), None, text.splitlines(True), path
    return types.FunctionType(marshal.loads(code), space.values, name, None, cells)


def _complete_function(function, state):
    named, defaults, keyword_defaults, facts, contents, names = state
    for name, value in named.items():
        function.__globals__.setdefault(name, value)
    function.__defaults__, function.__kwdefaults__ = defaults, keyword_defaults
    function.__doc__, function.__qualname__, function.__module__ = names
    function.__dict__.update(facts)
    for cell, held in zip(function.__closure__ or (), contents):
        if held:
            cell.cell_contents = held[0]


def _make_class(meta, name, bases, module, qualname, slots):
    facts = {"__module__": module, "__qualname__": qualname}
    if slots is not None:
        facts["__slots__"] = slots
    return types.new_class(name, bases, {"metaclass": meta}, lambda space: space.update(facts))


def _complete_class(kind, facts):
    for name, value in facts.items():
        try:
            setattr(kind, name, value)
        except (AttributeError, TypeError):  # what the class made of itself
            pass


class Unshipper(pickle.Unpickler):
    """Make objects again.

    Parameters
    ----------
    file : BinaryIO
        The bytes.
    find : Callable[[Any], Any], optional
        Returns the object that is known as something.

    """

    def __init__(self, file, find=None):
        super().__init__(file)
        self._find = find

    def persistent_load(self, name):
        """Return the object that is known as something."""
        if self._find is None:
            raise pickle.UnpicklingError(f"shipping: got {name!r}, expected nothing that has a name here")
        return self._find(name)


def ship(value, name_of=None, reducers=None):
    """Return an object as bytes; see `Shipper`."""
    file = io.BytesIO()
    Shipper(file, name_of, reducers).dump(value)
    return file.getvalue()


def unship(data, find=None):
    """Return the object that `ship` made bytes of."""
    return Unshipper(io.BytesIO(data), find).load()
