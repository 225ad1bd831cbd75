"""Names of `torch.fx` that libraries mention; graphs of Python code do not exist here, and asking for one says so."""
from dragon.vm.torch.nn import Module


def wrap(fn_or_name):
    """Return the function: no tracer would step into it."""
    return fn_or_name


def has_side_effect(fn):
    """Return the function."""
    return fn


class _Absent:
    """A class without instances: its name is for annotations and `isinstance`."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"torch.fx.{type(self).__name__}: Dragon traces no Python code into graphs")


class Graph(_Absent):
    """A graph of Python code."""


class Node(_Absent):
    """A node of it."""


class Proxy(_Absent):
    """A stand-in for a value while code is traced."""


class Tracer(_Absent):
    """A tracer of Python code."""


class Interpreter(_Absent):
    """A class that runs a graph."""


class Transformer(_Absent):
    """A class that changes a graph."""


class CodeGen(_Absent):
    """A class that writes a graph as Python."""


class GraphModule(_Absent, Module):
    """A module of a graph."""


def symbolic_trace(root, concrete_args=None):
    """Raise: code is not traced."""
    raise NotImplementedError("torch.fx.symbolic_trace: Dragon traces no Python code into graphs of torch.fx")
