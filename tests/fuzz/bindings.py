"""Hostile calls of every binding of `dragon._C`: functions, constructors, methods, attributes read and written, C slots
and what copies or pickles; each place of each gets wrong objects, one or two at once, the others being right."""
import copy
import functools
import pickle
import sys
import types

import dragon
from dragon import _C

import engine_objects
import hostile
import kits
import recorded
import sandbox
import wrongs
from tricks import Spite

ALLOWED = (ValueError, TypeError, IndexError, NotImplementedError, RuntimeError, MemoryError, OverflowError, OSError,
           AttributeError, KeyError, BufferError, ImportError, StopIteration)
LEFT_OUT = {
    "make_group": "waits for other processes", "borrow_cuda": "memory that the caller vouches for",
    "set_current_stream": "an address that the caller vouches for", "synchronize_stream": "the same",
    "stream_is_done": "the same", "stream_priority": "the same", "Event.record": "the same", "Event.wait": "the same",
    "DeviceGraph.begin": "the same", "set_host": "what graphs of this process call", "new_pool": "takes no argument",
    "set_memory_watcher": "is called while errors are on their way", "set_wait_watcher": "the same",
    "set_size_classes": "what every later trace makes its numbers of", "load_library": "code of the process",
}
STEP = 7919  # a prime: the order of places and objects
REPEATS = 6  # of a call that is refused, to see whether it keeps or loses references
# What stands for itself everywhere in the process: how often it is referred to says nothing.
SHARED = (type(None), bool, int, str, bytes, tuple, type, types.ModuleType, types.BuiltinFunctionType, type(...), float,
          types.FunctionType, complex, type(NotImplemented), slice, _C.dtype)


class Leak(Exception):
    """A call that was refused has kept a reference to an argument, or has given one away that was not its own."""


class Target:
    """A binding: its name, how it is called, and what its places expect."""

    def __init__(self, name, found, parameters, owner=None):
        self.name, self.found, self.parameters, self.owner = name, found, parameters, owner


def call_method(name, self, *args, **kwargs):
    """Call what a class has under a name, as it is written by who names the class: `Graph.verify(None)`."""
    cls, _, method = name.rpartition(".")
    return getattr(getattr(_C, cls), method)(self, *args, **kwargs)


def write(field, self, value):
    """Write an attribute of an object."""
    return setattr(self, field, value)


def remove(field, self):
    """Delete an attribute of an object."""
    return delattr(self, field)


def begin_again(cls, self, *args):
    """Call `__init__` of an object that was begun."""
    return cls.__init__(self, *args)


def take_state(self, state):
    """Give an object a state that none of its kind wrote."""
    if hasattr(self, "__setstate__"):
        return self.__setstate__(state)
    return self.__reduce_ex__(state)


def copies(self):
    """Copy an object in all ways that Python has."""
    for way in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        try:
            way(self)
        except (TypeError, ValueError, RuntimeError, NotImplementedError, pickle.PickleError, AttributeError):
            continue


def targets():
    """Return {name: Target} of the module."""
    found = {}
    for name, value in sorted(vars(_C).items()):
        if name.startswith("__") or name in LEFT_OUT or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type):
            if not issubclass(value, BaseException):
                found.update(members(name, value))
        elif callable(value):
            found[name] = Target(name, value, engine_objects.parameters(value, False))
    return found


def members(name, cls):
    """Return {name: Target} of a class: made, begun again, copied, its methods and slots, its attributes."""
    mine = [("self", f"_C.{name}")]
    init = engine_objects.parameters(cls.__init__, True)
    found = {name: Target(name, cls, init),
             f"{name}.__init__": Target(name, functools.partial(begin_again, cls), mine + init),
             f"{name}.copies": Target(name, copies, mine),
             f"{name}.state": Target(name, take_state, mine + [("state", "object")])}
    for field in sorted(set(vars(cls)) | {slot for slot in dir(cls) if slot.strip("_") in engine_objects.SLOTS}):
        value, whole = vars(cls).get(field, getattr(cls, field, None)), f"{name}.{field}"
        if field in ("__new__", "__init__", "__class__", "__subclasshook__", "__init_subclass__") or whole in LEFT_OUT:
            continue
        if isinstance(value, staticmethod):
            found[whole] = Target(whole, getattr(cls, field), engine_objects.parameters(getattr(cls, field), False))
        elif callable(value):
            count = engine_objects.SLOTS.get(field.strip("_")) if field.startswith("__") else None
            rest = engine_objects.parameters(getattr(cls, field), True) if count is None else [("b", "object")] * count
            found[whole] = Target(whole, functools.partial(call_method, whole), mine + rest)
        elif hasattr(type(value), "__get__"):
            read = value.fget if isinstance(value, property) and value.fget else value.__get__
            found[whole] = Target(whole, read, mine)
            found[f"{whole} ="] = Target(whole, functools.partial(write, field), mine + [(field, "object")])
            found[f"del {whole}"] = Target(whole, functools.partial(remove, field), mine)
    return {key.replace(" ", "_"): target for key, target in found.items()}


def counts(objects):
    """Return how often each of some objects is referred to; None where that says nothing."""
    return [None if isinstance(each, SHARED) else sys.getrefcount(each) for each in objects]


def watched(found, /, *args, **kwargs):
    """Call; where it is refused, again and again, to see whether the arguments' references are let go of."""
    objects = [*args, *kwargs.values()]
    try:
        return found(*args, **kwargs)
    except (*ALLOWED, SystemError) as error:
        refusal = error.with_traceback(None)
    before = counts(objects)
    for _ in range(REPEATS):
        try:
            found(*args, **kwargs)
        except Exception as error:
            error.with_traceback(None)
    for was, now, each in zip(before, counts(objects), objects):
        if was is not None and (now - was >= REPEATS or now < was):
            raise Leak(f"{type(each).__name__} was referred to {was} times, now {now}, after {type(refusal).__name__}")
    raise refusal


class Kit(kits.Native):
    """Dragon's own tensors, and what calls of the engine have switched for the thread or the process."""

    def __init__(self, module):
        super().__init__(module)
        self.made = []  # what may have been started

    def restore(self):
        engine_objects.tidy(self.made)
        self.made.clear()
        if _C.is_profiling():
            _C.stop_profile()
        for switch, *values in ((_C.set_phantom, False), (_C.set_autocast, None), (_C.set_override_modes, 0, 0),
                                (_C.set_override_disabled, False), (_C.exchange_history_floor, 0),
                                (_C.set_default_device, None), (_C.set_usual_device, None), (_C.work_alone, False),
                                (_C.set_num_threads, 2), (_C.exchange_size_by_numbers, -1, False),
                                (_C.set_anomaly_mode, False, False), (_C.set_memory_limit, sandbox.MEMORY)):
            switch(*values)
        super().restore()

    def tell(self, value):
        return f"Tensor{tuple(value.shape)}" if type(value) is self.module.Tensor else None


class Bindings:
    """Every binding of the module."""

    def __init__(self, recording=True):
        self.kit, self.targets, self.wrongs = Kit(dragon), targets(), wrongs.wrongs()
        self.names = sorted(self.targets)
        self.recorded = recorded.calls() if recording else {}

    def right_call(self, target, rng):
        """Return (args, kwargs) of a call as the package's own code made it, or as the signature tells."""
        known = self.recorded.get(target.name)
        if known and rng.integers(2):
            args, kwargs = hostile.pick(rng, known)
            return list(args), dict(kwargs)
        return [engine_objects.right(*parameter) for parameter in target.parameters], {}

    def attempt(self, name, seed, index):
        """Yield (what is called, callable, args, kwargs) of one attempt."""
        target, rng = self.targets[name], hostile.generator(seed, index, name)
        args, kwargs = self.right_call(target, rng)
        for place, number in self.places([*range(len(args)), *kwargs], seed, index, rng):
            (args if isinstance(place, int) else kwargs)[place] = self.wrongs[number]()
        if rng.integers(12) == 0:
            args = args[:-1] if rng.integers(2) else args + [self.wrongs[int(rng.integers(len(self.wrongs)))]()]
        self.kit.made += [each for each in args if isinstance(each, (_C.Trace, _C.Scribe))]
        yield name, functools.partial(watched, target.found), args, kwargs

    def places(self, places, seed, index, rng):
        """Return [(place, number of a wrong object)]: each object in each place once, then two and three at a time."""
        every = len(places) * len(self.wrongs)
        if index < every:
            turn = (index * STEP + seed * STEP // 2) % every
            return [(places[turn % len(places)], turn // len(places))]
        chosen = rng.permutation(len(places))[:int(rng.integers(1, 4))]
        return [(places[int(place)], int(rng.integers(len(self.wrongs)))) for place in chosen]

    def judge(self, name, error):
        """Return what is wrong with an error, or None."""
        if isinstance(error, Leak):
            return "leak"
        if isinstance(error, Spite):
            return None  # what an argument's own methods raise is the caller's
        if isinstance(error, ALLOWED):
            silent = isinstance(error, (MemoryError, StopIteration, OSError))
            return None if silent or words_of(error) else "empty message"
        return "class"


def words_of(error):
    """Return the message of an error, also of one that shows an argument that cannot be shown."""
    try:
        return str(error)
    except BaseException:
        return "?"
