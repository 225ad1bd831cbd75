"""Where a call comes from, for people: the modules around it by name, and the user's line."""
import os
import sys

from dragon.core.module import Module
from dragon.core.warnings import is_users

_CALLS = ("_wrapped_call_impl", "_call_impl", "__call__", "_run")  # methods in which a module of a face is called
_DEEPEST = 48  # frames of a stack that are told


class Scopes:
    """Tell the place of the call that is being made, as "Net.layer1.conv at net.py:30".

    The engine asks for calls of the forward pass; those of the backward pass have the place of their forward call, as
    "backward.Net.layer1.conv at net.py:30".

    One object serves one capture: it remembers what modules are called.
    """

    def __init__(self):
        self._kinds, self._names = {}, {}

    def __call__(self):
        frame, line, modules = sys._getframe(1), "", []
        while frame is not None:
            kind = self._kind_of(frame.f_code)
            if kind == "call":
                module = frame.f_locals.get("self")
                if isinstance(module, Module) and not (modules and modules[-1] is module):
                    modules.append(module)
            elif kind == "user" and not line:
                line = f"at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
            frame = frame.f_back
        return f"{self._path(modules[::-1])} {line}".strip()

    def _kind_of(self, code):
        """Return whether code calls a module, is the user's, or neither; the code is kept, so that ids stay its own."""
        known = self._kinds.get(id(code))
        if known is None:
            kind = "user" if is_users(code.co_filename) else "call" if code.co_name in _CALLS else "engine"
            known = self._kinds[id(code)] = (kind, code)
        return known[0]

    def _path(self, modules):
        """Return the dotted path from the outermost module to the innermost."""
        names = [type(module).__name__ for module in modules[:1]]
        names += [self._name_in(outer, inner) for outer, inner in zip(modules, modules[1:])]
        return ".".join(filter(None, names))

    def _name_in(self, outer, inner):
        """Return what a module is called within another one."""
        key = id(outer), id(inner)
        known = self._names.get(key)
        if known is None:
            name = getattr(inner, "name", None)  # Keras's layers have one of their own
            if not isinstance(name, str):
                found = (path for path, module in outer.named_modules() if module is inner)
                name = next(found, type(inner).__name__)
            known = self._names[key] = (name, outer, inner)
        return known[0]


def split_scope(scope):
    """Return the path of modules and the line of what `Scopes` tells, each empty where it is not known.

    Parameters
    ----------
    scope : str
        The scope of a call of a graph.

    Returns
    -------
    Tuple[str, str]
        "Net.layer1.conv" and "net.py:30".

    """
    path, mark, line = f" {scope}".rpartition(" at ")
    return (path.strip(), line) if mark else (scope, "")


def stack():
    """Return the user's functions that are running, the outermost first, as "main (train.py:30);forward (net.py:8)"."""
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) < _DEEPEST:
        code = frame.f_code
        if is_users(code.co_filename):
            name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "").replace(";", ",")
            found.append(f"{name} ({os.path.basename(code.co_filename).replace(';', ',')}:{frame.f_lineno})")
        frame = frame.f_back
    return ";".join(reversed(found))
