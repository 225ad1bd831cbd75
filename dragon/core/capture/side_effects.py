"""Side effects outside of Python objects during a capture: clocks that are read, files and streams that are written."""
import builtins
import datetime
import io
import os
import sys
import time
import types

from dragon import _C
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.settings import captures
from dragon.core.scopes import Scope
from dragon.core.warnings import is_own, is_users

_CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time",
           "process_time_ns", "thread_time", "thread_time_ns", "localtime", "gmtime", "ctime", "strftime")
_DEEDS = {getattr(time, name): f"reads a clock (time.{name})" for name in _CLOCKS}
_DEEDS.update({time.sleep: "sleeps", io.open: "opens a file", builtins.input: "reads what somebody types",
               builtins.print: "prints", os.system: "runs a program", os.urandom: "draws from os.urandom",
               os.open: "opens a file", os.write: "writes to a file", os.read: "reads from a file"})
_PASSING = frozenset(("write", "writelines", "read", "readline", "readlines", "readinto"))
_OF_DATES = frozenset(("now", "utcnow", "today"))
_SEEDING = frozenset(("manual_seed", "seed", "set_state"))
_SYSTEM = frozenset(("posix", "nt", "gc"))  # modules whose functions tell what no guard can watch
_HARMLESS = frozenset(("fspath", "getpid", "collect", "enable", "disable", "freeze"))
_TELLING = {"_thread": ("get_ident", "get_native_id")}
_OWN_STATE = {"lock": ("locked",), "type": ("__subclasses__",), "ABCMeta": ("__subclasses__",)}
# What the program itself may not do; libraries do so for it.
_LOOKING = {builtins.eval: "evaluates a text", builtins.exec: "runs a text", builtins.globals: "takes all globals",
            sys._getframe: "looks at its callers", sys.getrecursionlimit: "asks how deep calls may be"}
# Python's functions, by module and name, that tell what no guard can watch.
_ASKING = {("threading", "active_count"): "counts threads", ("threading", "enumerate"): "lists threads",
           ("importlib.util", "find_spec"): "looks for a module",
           ("numpy._core._ufunc_config", "geterr"): "reads NumPy's settings"}
_SILENT = ("<frozen importlib", "warnings.py", "linecache.py")  # imports and warnings, which come once by themselves


def _effect(called):
    """Return what a function of C's does outside, or None."""
    owner = getattr(called, "__self__", None)
    if isinstance(owner, types.ModuleType) or owner is None:
        try:
            return _DEEDS.get(called) or _told_by(owner, called)
        except TypeError:  # somebody's callable without a hash
            return None
    if called.__name__ in _OWN_STATE.get(type(owner).__name__, ()):
        return f"asks a {type(owner).__name__} ({called.__name__})"
    if isinstance(owner, _C.Generator) and called.__name__ in _SEEDING:
        return "seeds a generator"
    in_memory = isinstance(owner, (io.StringIO, io.BytesIO))
    if isinstance(owner, io.IOBase) and called.__name__ in _PASSING and not in_memory:
        return f"{'reads' if called.__name__.startswith('read') else 'writes to'} a file"
    if isinstance(owner, type) and issubclass(owner, datetime.date) and called.__name__ in _OF_DATES:
        return f"reads a clock ({owner.__name__}.{called.__name__})"
    return None


def _told_by(module, called):
    """Return what a function of a module of C's tells of the process, or None."""
    name = getattr(module, "__name__", None)
    if name in _SYSTEM and called.__name__ not in _HARMLESS or called.__name__ in _TELLING.get(name, ()):
        return f"asks the system ({called.__name__})"
    return None


def note(effect):
    """Tell the captures in progress that the program does something that a graph would not do again.

    Parameters
    ----------
    effect : str
        What it does, in the third person.

    """
    for capture in captures():
        side_effects = getattr(capture, "side_effects", None)
        if side_effects is not None and side_effects.effect is None:
            side_effects.effect = f"it {effect} at {user_line()}"


def _is_programs(frame):
    """Return whether a call is made by the program, or by Python's library for it: neither by Dragon nor an import."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return True
        if is_own(file) or file.startswith(_SILENT[0]) or os.path.basename(file) in _SILENT:
            return False
        frame = frame.f_back
    return False


def _look(frame, called):
    """Return how the program itself looks beyond what code names, or None."""
    is_plain = isinstance(called, types.BuiltinFunctionType) and isinstance(called.__self__, types.ModuleType)
    return _LOOKING.get(called) if is_plain and is_users(frame.f_code.co_filename) else None


def _effect_of_python(frame):
    """Return what a function of Python's library tells of the process, or None."""
    return _ASKING.get((frame.f_globals.get("__name__"), frame.f_code.co_name))


class SideEffects(Scope):
    """Within a `with` block, note the first thing that this thread's program does outside, and which code it runs.

    A graph would not do it again. Where somebody else profiles the thread, nothing is noted.
    """

    def __init__(self):
        self.effect = None
        self.codes = set()  # that were run

    def _enter_scope(self, exits):
        """Listen, unless somebody else does."""
        if sys.getprofile() is None:
            exits.callback(self._end)
            sys.setprofile(self._note)
        return self

    def _end(self):
        if sys.getprofile() == self._note:
            sys.setprofile(None)
        else:  # somebody has listened instead, so that not all is known
            self.codes.clear()

    def _note(self, frame, event, called):
        if event == "call":
            self.codes.add(frame.f_code)
        if self.effect is not None or event not in ("call", "c_call"):
            return
        effect = _effect_of_python(frame) if event == "call" else _effect(called) or _look(frame, called)
        if effect is not None and _is_programs(frame.f_back if event == "call" else frame):
            self.effect = f"it {effect} at {user_line()}"
