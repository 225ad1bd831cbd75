"""`print` in a captured call: a step of the graph, which prints the same whenever the graph runs.

What is printed must be constants, which the guards watch, and tensors as a whole, whose numbers are those of each run.
"""
import builtins
import enum
import sys
import threading

from dragon import _C
from dragon.core.capture.code_names import is_own
from dragon.core.capture.host_calls import when_run
from dragon.core.capture.side_effects import note
from dragon.core.capture.settings import captures
from dragon.core.capture.structure import is_scalar
from dragon.core.operators import operators
from dragon.core.scopes import Scope

_lock = threading.Lock()
_installed = []  # the blocks that any thread is in; while there are any, `print` is another one


def _is_constant(value):
    """Return whether a value says the same for as long as the guards hold."""
    if type(value) in (list, set):
        return all(map(_is_constant, value))
    if type(value) is dict:
        return all(map(_is_constant, value)) and all(map(_is_constant, value.values()))
    plain = is_own(type(value).__module__) and not hasattr(value, "__dict__")  # dtypes, devices
    return is_scalar(value) or isinstance(value, enum.Enum) or plain and not isinstance(value, _C.Tensor)


class _Said:
    """What one call of `print` says: texts, and places of tensors."""

    def __init__(self, plain, values, sep, end, stream, flush):
        self.plain, self.stream, self.options = plain, stream, {"sep": sep, "end": end, "flush": flush}
        self.tensors = [value for value in values if isinstance(value, _C.Tensor)]
        kinds = iter(range(len(self.tensors)))
        self.parts = tuple((next(kinds), type(value)) if isinstance(value, _C.Tensor) else str(value)
                           for value in values)

    key = property(lambda self: ("print", self.stream, *self.options.values(), self.parts))

    def __call__(self, tensors):
        """Say it, of these tensors."""
        values = [part if isinstance(part, str) else _C.as_class(tensors[part[0]], part[1]) for part in self.parts]
        self.plain(*values, file=getattr(sys, self.stream), **self.options)


def _said(plain, values, sep=" ", end="\n", file=None, flush=False):
    """Return what a call says, or None where no graph could say it again."""
    stream = "stdout" if file is None or file is sys.stdout else "stderr" if file is sys.stderr else None
    # The text of a tensor with a history names the function it came by, which the graph's has not.
    if stream is None or not all(not value.requires_grad if isinstance(value, _C.Tensor) else _is_constant(value)
                                 for value in values):
        return None
    return _Said(plain, values, sep, end, stream, flush)


def _teller(plain):
    """Return what stands in the place of `print`."""
    def tell(*values, **options):
        running = captures()
        said = _said(plain, values, **options) if running and getattr(running[-1], "tells", False) else None
        if said is not None and when_run(operators(), said, said.tensors, said.key):
            return
        note("prints")
        plain(*values, **options)
    tell.plain = plain
    return tell


class CapturedPrint(Scope):
    """Within a `with` block, what captured calls of this thread print becomes steps of their graphs."""

    def _enter_scope(self, exits):
        """Put another `print` in place."""
        exits.callback(self._let_go)
        with _lock:
            _installed.append(self)
            if not hasattr(builtins.print, "plain"):
                builtins.print = _teller(builtins.print)
        return self

    def _let_go(self):
        """Take it away, unless somebody has put another there; may be called again after an interrupt."""
        with _lock:
            _installed[:] = [block for block in _installed if block is not self]
            if not _installed and hasattr(builtins.print, "plain"):
                builtins.print = builtins.print.plain
