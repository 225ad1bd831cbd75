"""What a function's result depends on besides its tensors, found by analysing its code and the objects it reaches."""
import collections
import enum
import functools
import itertools
import random
import sys
import types
import weakref
from argparse import Namespace

from dragon import _C
from dragon.core.capture import code_names
from dragon.core.capture.absent_attributes import AbsentAttributes
from dragon.core.capture.rules import Rules
from dragon.core.capture.structure import ABSENT, EQUAL, SAME, describe, is_scalar
from dragon.core.capture.watched_state import (
    ARRAY, ATTRIBUTE, CELL, CLASS, DICT, ENVIRONMENT, KEYS, LARGEST_ARRAY, LIST, SET, TENSOR, WatchedState,
    has_plain_fields, hides_itself, is_library_module, is_unseen)

MAKERS = frozenset(("__init__", "__new__", "__post_init__"))  # run only where code makes an object of a class
OURS = ("_dragon", "_keras")  # how names begin that faces give to attributes of tensors
PLAIN = (types.SimpleNamespace, Namespace)
METHODS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)
WRAPPERS = {collections.ChainMap: "maps", collections.UserDict: "data", collections.UserList: "data"}


def is_array(value):
    """Return whether a value is a NumPy array; NumPy is not loaded for the question."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), numpy.ndarray)  # whatever class it says that it has


def is_random_state(value):
    """Return whether a value draws random numbers that are not the engine's."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, random.Random) or numpy is not None and isinstance(
        value, (numpy.random.Generator, numpy.random.RandomState))


def _of_class(table, kind):
    return frozenset().union(*(table[base] for base in kind.__mro__ if base in table))


class Place:
    """A container and what is expected of its entries."""

    is_library = False  # whether it holds the fields of an object that a library made
    present = None  # of the fields of an object of the user's, the names of all that there were

    def __init__(self, kind, container, path):
        self.kind, self.container, self.path = kind, container, path
        self.keys, self.checks, self.names = [], [], []


class DependencyAnalysis(WatchedState, AbsentAttributes):
    """Look at a function, its arguments and all that they lead to.

    Parameters
    ----------
    function : Callable
        What is going to be called.
    args : tuple
        Its positional arguments.
    kwargs : dict
        Its other arguments.
    name : str, optional, default="function"
        How paths begin.
    executed : Container[types.CodeType], optional
        The code that the call has run. What only other code could have looked at decides nothing: as long as all that
        this code looks at is the same, it does the same. Without it, all code that is reached counts.

    """

    def __init__(self, function, args, kwargs, name="function", executed=None):
        self._executed = executed
        self.places, self.tensors, self.kept = [], {}, [function]
        self.refusal = None
        self.random_states, self.counters = [], []
        self.asked, self._environment = set(), None
        self._asked_of_any, self._asked_of_self = set(), {}  # names; by code, names that it asks `self` for
        self._seen, self._names, self._computed, self._all = {}, set(), set(), False
        self._waiting, self._waiting_modules = collections.defaultdict(list), collections.defaultdict(list)
        self._instances, self._classes, self._modules = [], [], []
        self._kinds, self._libraries = [], {}  # classes of the program's; places of modules of libraries
        self._builtins = self._loaded = None  # places
        self._queue = collections.deque()
        self._later(self._visit_callable, function, name)
        self.positional = tuple(describe(arg, f"args[{i}]", self._expect) for i, arg in enumerate(args))
        self.named = tuple((key, describe(arg, key, self._expect)) for key, arg in kwargs.items())
        self._drain()
        self._watch_kinds()
        self._watch_tensors([arg for arg in (*args, *self.tensors.values()) if isinstance(arg, _C.Tensor)])
        self._drain()
        self._add_absent()
        self._add_switches()

    def noted_on(self, tensor):
        """Return the attributes that somebody has put on a tensor, as far as code may ask for them."""
        return {name: value for name, value in list(getattr(tensor, "__dict__", {}).items())
                if (self.asks_anything or name in self._names) and not name.startswith(OURS)}

    asks_anything = property(lambda self: self._all, doc="Whether code computes the names of attributes.")

    asks_of_tensors = property(lambda self: "requires_grad" in self._names,
                               doc="Whether code asks whether tensors want gradients, of whatever tensors.")

    met = property(lambda self: {key for key in self._seen if isinstance(key, int)},
                   doc="Set[int]: the ids of all objects that were met, which were there before the call.")

    # --- what is expected of a value

    def _expect(self, value, path):
        """Return (mode, expected) for a value, and look into it."""
        if hides_itself(value):
            self.refusal = self.refusal or f"{path} has a __getattribute__ of its own, which no guard can watch"
            return SAME, value
        if is_scalar(value):
            self.kept.append(value)
            return EQUAL, value
        if id(value) not in self._seen:
            self._seen[id(value)] = path
            self.kept.append(value)
            self._later(self._visit, value, path)
        return SAME, value

    def _later(self, visit, *arguments):
        self._queue.append((visit, arguments))

    def _drain(self):
        while self._queue:
            visit, arguments = self._queue.popleft()
            visit(*arguments)

    def _visit(self, value, path):
        if isinstance(value, _C.Tensor):
            self.tensors[id(value)] = value
            self.places.append(self._named(TENSOR, value, path))
            fields = getattr(value, "__dict__", None)
            if fields:  # attributes that somebody has put there
                self._watch_named(self._place(KEYS, fields, path), fields)
        elif isinstance(value, (enum.Enum, str, bytes)):
            pass
        elif isinstance(value, type):
            self._visit_class(value, path, made=True)
        elif isinstance(value, types.ModuleType):
            if not code_names.is_library(value.__dict__.get("__name__")):
                self._watch_module(value, path)
        elif not self._visit_container(value, path) and not self._visit_function(value, path):
            self._visit_object(value, path)

    def _named(self, kind, container, path):
        place = Place(kind, container, path)
        self.kept.append(container)
        return place

    def _place(self, kind, container, path):
        place = self._named(kind, container, path)
        self.places.append(place)
        return place

    def _put(self, place, key, value, path):
        place.keys.append(key)
        place.names.append(path)
        place.checks.append(self._expect(value, path))

    @staticmethod
    def _put_absent(place, key, path):
        place.keys.append(key)
        place.names.append(path)
        place.checks.append((ABSENT, None))

    # --- containers

    def _visit_container(self, value, path):
        if isinstance(value, tuple):
            for index, item in enumerate(tuple.__iter__(value)):
                self._expect(item, f"{path}[{index}]")
        elif isinstance(value, list):
            self._whole(LIST, value, enumerate(list.__iter__(value)), path)
        elif isinstance(value, dict):  # what lies in it, whatever a subclass's own methods make of that
            self._whole(DICT, value, dict.items(value), path)
            self._watch_order(value, path)
        elif isinstance(value, (set, frozenset)) or isinstance(value, collections.deque) and is_scalar(tuple(value)):
            place = self._place(SET, value, path)
            place.names.append(path)
            plain = next(base for base in (set, frozenset, collections.deque) if isinstance(value, base))
            self.kept.append(plain.copy(value))
            place.checks.append((EQUAL, self.kept[-1]))
        elif is_array(value):
            self._visit_array(value, path)
        elif type(value) in WRAPPERS:
            name = WRAPPERS[type(value)]
            self._put(self._place(ATTRIBUTE, value, path), name, getattr(value, name), f"{path}.{name}")
            return True
        elif isinstance(value, weakref.ref):
            self._expect(value(), path)
        elif is_random_state(value):
            self.random_states.append((value, path))
        elif isinstance(value, itertools.count):
            self.counters.append((value, path))
        elif is_unseen(value):
            self.refusal = self.refusal or f"{path} is an iterator ({type(value).__name__}), which no guard can watch"
        elif isinstance(value, collections.deque):
            self._watch_order(value, path)
        elif self._visit_state(value, path):
            if not code_names.is_library(type(value).__module__):
                self._visit_class(type(value), type(value).__qualname__)
            return True
        else:
            return False
        if type(value).__module__ not in ("builtins", "collections") and hasattr(value, "__dict__"):
            self._visit_object(value, path)
        return True

    def _whole(self, kind, container, items, path):
        place = self._place(kind, container, path)
        for key, item in list(items):
            if not is_scalar(key):
                self.kept.append(key)
            self._put(place, key, item, f"{path}[{_key_text(key)}]")

    def _visit_array(self, array, path):
        if array.nbytes > LARGEST_ARRAY or array.dtype.hasobject:
            self.refusal = self.refusal or (f"{path} is a NumPy array of {array.nbytes} bytes, too many to compare "
                                            "before each run: make it a tensor")
            return
        place = self._place(ARRAY, array, path)
        self.kept.append(array.tobytes())
        place.checks.append((EQUAL, self.kept[-1]))
        place.names.append(path)
        form = self._place(ATTRIBUTE, array, path)
        for name in ("shape", "dtype", "strides"):
            self._put(form, name, getattr(array, name), f"{path}.{name}")

    # --- functions

    def _visit_callable(self, function, path):
        if not self._visit_function(function, path):
            self._seen[id(function)] = path
            self._visit_object(function, path)

    def _visit_function(self, value, path):
        if isinstance(value, types.FunctionType):
            self._visit_python_function(value, path)
        elif isinstance(value, types.MethodType):
            self._expect(value.__func__, f"{path}.__func__" if code_names.is_library_code(value.__func__) else path)
            self._expect(value.__self__, f"{path}.__self__" if path != "function" else "self")
        elif isinstance(value, (staticmethod, classmethod)):
            self._expect(value.__func__, path)
        elif isinstance(value, property):
            for function in (value.fget, value.fset):
                self._expect(function, path)
        elif isinstance(value, (functools.partial, functools.partialmethod)):
            place = self._place(ATTRIBUTE, value, path)
            for name in ("func", "args", "keywords"):
                self._put(place, name, getattr(value, name), f"{path}.{name}")
        elif isinstance(value, functools.cached_property):
            self._expect(value.func, path)
        elif isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType, types.MethodDescriptorType,
                                types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType)):
            owner = getattr(value, "__self__", None)
            if not isinstance(owner, (types.ModuleType, type, type(None))):
                self._expect(owner, f"{path}.__self__")
        else:
            wrapped = plain_attribute(value, "__wrapped__")
            if wrapped is None or isinstance(value, type):
                return False
            self._expect(wrapped, path)
        return True

    def _visit_python_function(self, function, path):
        if self._executed is not None and function.__code__ not in self._executed:
            return
        for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars):
            self._visit_cell(cell, f"{path}: closure {name}")
        if code_names.is_library_code(function):
            if function.__module__ == "os" and function.__name__ in ENVIRONMENT:
                self._watch_environment()
            return
        place = self._place(ATTRIBUTE, function, path)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(function, name)
            place.keys.append(name)
            place.names.append(f"{path}.{name}")
            place.checks.append(self._expect(value, f"{path}.{name}") if name != "__code__" else (SAME, value))
            self.kept.append(value)
        names = code_names.names_of(function.__code__)
        self.asked |= names.asked
        self._asked_of_any |= names.asked - names.asked_of_self
        if names.asked_of_self:
            self._asked_of_self[function.__code__] = names.asked_of_self
        if not ENVIRONMENT.isdisjoint(names.globals | names.attributes):
            self._watch_environment()
        self._watch_closed(function, names, path)
        fields = function.__dict__
        if fields and "__wrapped__" not in fields:
            self._watch_named(self._place(KEYS, fields, path), fields)
        self._visit_globals(function.__globals__, names, path)
        self._learn(names.attributes, names.dynamic)

    def _visit_cell(self, cell, path):
        if id(cell) in self._seen:
            return
        self._seen[id(cell)] = path
        place = self._place(CELL, cell, path)
        place.names.append(path)
        try:
            place.checks.append(self._expect(cell.cell_contents, path))
        except ValueError:  # an empty cell
            place.checks.append((ABSENT, None))

    def _visit_globals(self, namespace, names, path):
        place = self._place(KEYS, namespace, path)
        for name in sorted(names.globals):
            if name in namespace:
                value = namespace[name]
                self._put(place, name, value, f"global {name}")
                if is_library_module(value):
                    self._watch_library(value, name, names.pairs, name)
            else:  # Python's own, or missing, which a program may have an answer to
                self._put_absent(place, name, f"global {name}")
        self._watch_builtins(sorted(names.globals.difference(namespace)))

    # --- attributes, as far as some code names them

    def _learn(self, names, dynamic=False):
        for name in sorted(names - self._names):
            self._names.add(name)
            self._watch_waiting(self._waiting, name)
            self._watch_waiting(self._waiting_modules, name)
        if dynamic and not self._all:
            self._all = True
            self._computed = set(self._waiting)
            for name, waiting in list(self._waiting.items()):
                self._waiting[name] = [item for item in waiting if not self._watch_computed(name, *item)]

    def _watch_computed(self, name, place, holder, path):
        """Watch an attribute because some code computes names; return whether that is all there is to watch.

        Methods are watched without a look at their code: a class has many, and few are called by computed names.
        """
        value = holder.get(name)
        if place.kind == CLASS and isinstance(value, METHODS) and not self._was_run(value):
            place.keys.append(name)
            place.names.append(f"{path}.{name}")
            place.checks.append((SAME, value))
            self.kept.append(value)
            return False
        if name in holder:
            self._put(place, name, value, f"{path}.{name}")
        return True

    def _was_run(self, method):
        """Return whether the call is known to have run a method."""
        return self._executed is not None and getattr(method, "__code__", None) in self._executed

    def _watch_waiting(self, waiting, name):
        for place, holder, path in waiting.pop(name, ()):
            if name in holder:
                self._put(place, name, holder[name], f"{path}.{name}")

    def _watch_module(self, module, path):
        """Watch what code names of a module.

        Code that computes the names of attributes does so for objects; to take all of a module, and of the modules that
        it knows, for reachable would be to walk through whole libraries.
        """
        names = module.__dict__
        place = self._place(KEYS, names, path)
        self._modules.append((place, names))
        for name in list(names):
            if name in self._names or name == "__getattr__":
                self._put(place, name, names[name], f"{path}.{name}")
            elif isinstance(name, str):
                self._waiting_modules[name].append((place, names, path))

    def _watch_named(self, place, holder, always=frozenset(), never=frozenset(), every=False):
        for name, value in list(holder.items()):
            if name in never:
                continue
            if every or name in self._names or name in always:
                self._put(place, name, value, f"{place.path}.{name}")
            elif isinstance(name, str) and not (self._all and self._watch_computed(name, place, holder, place.path)):
                self._waiting[name].append((place, holder, place.path))

    def _visit_object(self, value, path):
        kind = type(value)
        library = code_names.is_library(kind.__module__)
        self._visit_class(kind, kind.__qualname__)
        fields = getattr(value, "__dict__", None)
        if not library and not isinstance(kind.__getattribute__, types.FunctionType):  # which would run at each check
            self._same(self._place(ATTRIBUTE, value, path), "__class__", kind, f"{path}.__class__")
        elif library and not code_names.is_own(kind.__module__) and not isinstance(value, PLAIN):
            if isinstance(fields, dict) and has_plain_fields(kind):
                self._whole_fields(fields, path)
            return
        if isinstance(fields, dict):
            never = _of_class(Rules.never, kind)
            always = _of_class(Rules.always, kind)
            if library and not isinstance(value, PLAIN) and not never:
                self._whole_fields(fields, path)
            else:
                every = library and not isinstance(value, PLAIN)
                place = self._place(KEYS, fields, path)
                place.is_library = library
                place.present = frozenset(fields)
                self._watch_named(place, fields, always, never, every=every)
                self._instances.append((place, kind, fields))
        self._visit_slots(value, kind, path)

    def _whole_fields(self, fields, path):
        place = self._place(DICT, fields, path)
        place.is_library = True
        for key, item in list(fields.items()):
            self._put(place, key, item, f"{path}.{key}")

    def _visit_slots(self, value, kind, path):
        slots, unset = {}, set()
        for base in kind.__mro__:
            names = base.__dict__.get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                if name in ("__dict__", "__weakref__"):
                    continue
                if hasattr(value, name):
                    slots[name] = getattr(value, name)
                else:
                    unset.add(name)
        if slots or unset:
            place = self._place(ATTRIBUTE, value, path)
            self._watch_named(place, slots)
            self._absent(place, sorted(unset), slots)

    def _visit_class(self, kind, path, made=False):
        if type(kind) is not type and not code_names.is_library(type(kind).__module__):
            self._visit_class(type(kind), path)
        for base in kind.__mro__:
            if (base, made) in self._seen:
                continue
            self._seen[base, made] = path
            if code_names.is_library(base.__module__):
                if base not in Rules.roots and (code_names.is_own(base.__module__) or has_plain_fields(base)):
                    self._learn(_names_in_class(base))
                continue
            if (base, not made) not in self._seen:
                place = self._place(CLASS, base, base.__qualname__)
                self._watch_named(place, base.__dict__, {"forward"}, MAKERS)
                self._classes.append((place, base))
                self._kinds.append(base)
                self._same(self._place(ATTRIBUTE, base, base.__qualname__), "__mro__", base.__mro__,
                           f"{base.__qualname__}.__mro__")
            for name, value in list(base.__dict__.items()):
                if name.startswith("__") and (made or name not in MAKERS) and (
                        isinstance(value, types.FunctionType) or _wraps_function(value)):
                    self._expect(value, f"{base.__qualname__}.{name}")
                    if name == "__call__":
                        self._same(self._place(CLASS, base, base.__qualname__), name, value,
                                   f"{base.__qualname__}.{name}")

    # --- switches

    def _add_switches(self):
        for name, function in Rules.switches:
            self._ask(function, name)
        for name, namespace, keys in Rules.globals:
            place = self._place(KEYS, namespace, name)
            for key in keys:
                self._put(place, key, namespace[key], f"{name}.{key}")
        self._drain()


@functools.lru_cache(maxsize=1024)
def _names_in_class(kind):
    """Return the attributes that a library class's methods name."""
    functions = [value for name, value in list(kind.__dict__.items())
                 if isinstance(value, types.FunctionType) and name not in MAKERS]
    return frozenset().union(*(code_names.names_of(function.__code__).attributes for function in functions))


def _wraps_function(value):
    """Return whether an object of a library's stands for a function: what a decorator has made of a method."""
    return not isinstance(value, type) and isinstance(plain_attribute(value, "__wrapped__"), types.FunctionType)


def plain_attribute(value, name):
    """Return an attribute that an object has, or None, without asking its own `__getattr__`, which may do much."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return None


def _key_text(key):
    return repr(key) if is_scalar(key) else f"<{type(key).__name__}>"
