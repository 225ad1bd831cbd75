"""What decides a call's course beyond a function's objects: modules of libraries, Python's own names, what is loaded,
and objects that keep their state elsewhere than in dictionaries.
"""
import abc
import array
import builtins
import collections
import contextvars
import ctypes
import functools
import gc
import itertools
import logging
import operator
import os
import sys
import threading
import types
import weakref

from dragon.core.capture import code_names
from dragon.core.capture.objects import is_iterator
from dragon.core.capture.structure import EQUAL, SAME, is_scalar
from dragon.core.interrupts import is_interrupt

DICT, KEYS, CLASS, LIST, CELL, ATTRIBUTE, SET, ARRAY, CALL, TENSOR = range(10)  # kinds of places, as in the checker
LARGEST_ARRAY = 1 << 20  # bytes of an array that are compared before each run
ENVIRONMENT = frozenset(("environ", "getenv", "environb"))  # who names one of these reads the process's variables
BUFFERS = (bytearray, memoryview, array.array, ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)
WEAK = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
FIELDLESS = ("logging", "typing", "types", "weakref", "concurrent", "multiprocessing", "asyncio", "unittest", "ctypes")
_NOTHING = object()
_CACHED = type(functools.lru_cache(lambda: None))


class WatchedState:
    """The part of a walk that looks beyond what the program's objects hold."""

    def _same(self, place, key, value, path):
        """Watch that an entry is the same object, or the same number, without a look into it."""
        place.keys.append(key)
        place.names.append(path)
        place.checks.append((EQUAL if is_scalar(value) else SAME, value))
        self.kept.append(value)

    def _ask(self, function, path):
        """Watch what a function returns, which is asked before each run."""
        place = self._place(CALL, function, path)
        place.names.append(path)
        place.checks.append(self._expect(function(), path))

    # --- modules

    def _watch_library(self, module, name, pairs, path):
        """Watch what code names of a module of a library's: somebody may put another function there."""
        for attribute in sorted(later for before, later in pairs if before == name):
            if (id(module), attribute) in self._seen or attribute not in module.__dict__:
                continue
            self._seen[id(module), attribute] = path
            value, where = module.__dict__[attribute], f"{path}.{attribute}"
            if value is os.environ or value is sys.modules:
                continue
            if is_library_module(value):
                self._watch_library(value, attribute, pairs, where)
            if id(module) not in self._libraries:
                self._libraries[id(module)] = self._place(KEYS, module.__dict__, path)
            users = isinstance(value, types.FunctionType) and not code_names.is_library_code(value)
            put = self._put if users or type(value) in (list, dict, set) else self._same
            put(self._libraries[id(module)], attribute, value, where)

    def _watch_closed(self, function, names, path):
        """Watch modules of libraries in a function's closure, and what modules it imports or finds by their names."""
        for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars):
            module = _content(cell)
            if is_library_module(module):
                self._watch_library(module, name, {(name, later) for later in names.attributes}, path)
        wanted = set(names.texts if ("sys", "modules") in names.pairs or "sys" not in names.globals else ())
        for name in sorted(wanted | names.modules):
            if not name or code_names.is_library(name) or ("loaded", name) in self._seen:
                continue
            self._seen["loaded", name] = path
            if self._loaded is None:
                self._loaded = self._place(KEYS, sys.modules, "sys.modules")
            if name in sys.modules:
                self._put(self._loaded, name, sys.modules[name], f"module {name}")
            else:
                self._put_absent(self._loaded, name, f"module {name}")

    def _watch_builtins(self, missing):
        """Watch Python's own functions that code names: somebody may put others in their places."""
        for name in missing:
            if ("builtins", name) not in self._seen and name in vars(builtins):
                self._seen["builtins", name] = name
                if self._builtins is None:
                    self._builtins = self._place(KEYS, vars(builtins), "builtins")
                self._same(self._builtins, name, vars(builtins)[name], name)

    def _watch_environment(self):
        if self._environment is None:
            self._environment = getattr(os.environ, "_data", {})
            self._whole(DICT, self._environment, self._environment.items(), "os.environ")

    # --- objects that keep their state elsewhere

    def _visit_state(self, value, path):
        """Watch an object of Python's library by what it tells of itself; return whether it is one."""
        if isinstance(value, contextvars.ContextVar):
            self._ask(functools.partial(value.get, _NOTHING), path)
        elif value is os.environ:
            self._watch_environment()
        elif isinstance(value, threading.local):
            self._watch_told(lambda: _told_pairs(value.__dict__), value.__dict__, path)  # one for each thread
        elif isinstance(value, types.MappingProxyType):
            for inner in gc.get_referents(value):
                self._expect(inner, path)
        elif isinstance(value, WEAK):
            parts = dict(enumerate(value)) if isinstance(value, weakref.WeakSet) else dict(enumerate(value.values()))
            self._watch_told(lambda: _ids_in(value), parts, path)
        elif isinstance(value, _CACHED):
            misses = value.cache_info().misses
            self._ask(lambda: value.cache_info().misses >= misses, f"{path} was cleared")
            self._expect(value.__wrapped__, path)
        elif isinstance(value, (operator.attrgetter, operator.methodcaller)):
            self._learn({part for name in value.__reduce__()[1] for part in str(name).split(".")})
        elif isinstance(value, logging.Logger):
            self._watch_logger(value, path)
        elif isinstance(value, BUFFERS):
            self._watch_buffer(value, path)
        else:
            return False
        return True

    def _watch_told(self, ask, parts, path):
        """Watch an object by what a function tells of it, and look into its parts."""
        for key, part in list(parts.items()):
            self._expect(part, f"{path}.{key}")
        self._ask(ask, path)

    def _watch_logger(self, logger, path):
        """Watch what decides whether a logger and those above it say anything."""
        self._same(self._place(KEYS, vars(logger.manager), path), "_disable", logger.manager.disable, path)
        while logger is not None:
            if id(logger) not in self._seen:
                self._seen[id(logger)] = path
                self.kept.append(logger)
            place = self._place(KEYS, vars(logger), path)
            for name in ("level", "disabled"):
                self._same(place, name, vars(logger)[name], f"{path}.{name}")
            logger = logger.parent

    def _watch_buffer(self, value, path):
        """Watch the bytes of an array that is not NumPy's."""
        try:
            if memoryview(value).nbytes > LARGEST_ARRAY:
                self.refusal = self.refusal or f"{path} holds too many bytes to compare before each run"
                return
        except (TypeError, ValueError):  # one of a kind that shows no bytes
            return
        place = self._place(ARRAY, value, path)
        self.kept.append(bytes(memoryview(value)))
        place.checks.append((EQUAL, self.kept[-1]))
        place.names.append(path)

    def _watch_order(self, value, path):
        """Watch what an ordered dictionary or a queue holds, in its order."""
        if isinstance(value, collections.OrderedDict) and len(value) > 1:
            self._ask(lambda: tuple(map(id, collections.OrderedDict.__iter__(value))), path)
        elif isinstance(value, collections.deque):
            for index, item in enumerate(collections.deque.__iter__(value)):
                self._expect(item, f"{path}[{index}]")
            self._ask(lambda: tuple(map(id, collections.deque.__iter__(value))), path)

    # --- what must not change besides

    def _watch_tensors(self, tensors):
        """Watch the methods that the program has given to classes of tensors."""
        for kind in {type(tensor) for tensor in tensors}:
            for base in kind.__mro__:
                known = list(vars(base).items())
                methods = {name: value for name, value in known if name in self._names and isinstance(
                    value, types.FunctionType) and not code_names.is_library_code(value)}
                if methods and code_names.is_library(base.__module__):
                    place = self._place(CLASS, base, base.__qualname__)
                    for name, value in methods.items():
                        self._put(place, name, value, f"{base.__qualname__}.{name}")

    def _watch_kinds(self):
        """Watch the classes of objects; where code computes names of attributes, also what is added to them."""
        if any(isinstance(kind, abc.ABCMeta) for kind in self._kinds):
            self._ask(abc.get_cache_token, "classes that are registered as others")
        dictionaries = [vars(kind) for kind in self._kinds]
        if self._all:
            if dictionaries:
                self._ask(lambda: tuple(map(len, dictionaries)), "what is added to classes")
            for place, fields in self._modules:
                for name, value in list(fields.items()):
                    if type(value) in (int, float, str, bool) and name not in self._names and name[:2] != "__":
                        self._same(place, name, value, f"{place.path}.{name}")


def hides_itself(value):
    """Return whether an object's own `__getattribute__` does not tell its class and its fields to guards."""
    kind = type(value)
    if not isinstance(kind.__getattribute__, types.FunctionType) or code_names.is_library(kind.__module__):
        return False
    try:
        return value.__class__ is not kind or value.__dict__ is not object.__getattribute__(value, "__dict__")
    except Exception as error:  # it may do anything with names that it does not know
        if is_interrupt(error):
            raise
        return True


def is_library_module(value):
    """Return whether a value is a module of a library's; a value's own code is not asked."""
    return issubclass(type(value), types.ModuleType) and code_names.is_library(value.__dict__.get("__name__"))


def is_unseen(value):
    """Return whether a value gives something else each time that it is asked, which nothing tells of beforehand."""
    return is_iterator(value) and not isinstance(value, itertools.count) or type(value).__module__ == "_io" and hasattr(
        value, "getvalue")


def has_plain_fields(kind):
    """Return whether objects of a class of Python's library are watched by their fields."""
    root = kind.__module__.partition(".")[0]
    return root in sys.stdlib_module_names and root.lstrip("_") not in FIELDLESS and not issubclass(
        kind, (threading.Thread, BaseException))


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _told_pairs(fields):
    return tuple((name, value if is_scalar(value) else id(value)) for name, value in list(fields.items()))


def _ids_in(value):
    """Return which objects a weak container holds."""
    if isinstance(value, weakref.WeakSet):
        return tuple(sorted(map(id, value)))
    return tuple((id(key), item if is_scalar(item) else id(item)) for key, item in list(value.items()))
