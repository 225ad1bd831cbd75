"""`torch.ops`: operators by namespace and name, PyTorch's own as `torch.ops.aten.add` and those that scripts register.

An aten name stands for the function or method of that name here; Dragon has no separate operators behind them. Dragon's
own are `torch.ops.dragon`: graphs of gradients call those that PyTorch has no name for.
"""
from dragon._C import op_names
from dragon.vm.torch.core.aten import ADAPTED, PRIMS
from dragon.vm.torch.core.exporting import executing_gradients  # noqa: F401: which enters more in RUN
from dragon.vm.torch.core.exporting.executing import RUN
from dragon.vm.torch.core.exporting.hearing import listener
from dragon.vm.torch.core.exporting.higher import OPERATORS
from dragon.vm.torch.core.exporting.schemas import overloads, schema_of_engine
from dragon.vm.torch.core.overrides import beneath, flat, handle
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.operators import lookup
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


# Of factories, said by every exported program; here there is nothing else.
USUAL = {"pin_memory": (None, False), "layout": (None, strided), "non_blocking": (None, False)}


def _call(operator, op, args, kwargs):
    """Call an operator; what is no tensor and answers calls itself, as graphs' stand-ins do, is told of it."""
    if listener() is not None:
        return listener().called(operator, args, kwargs)
    for who in beneath:
        args, kwargs = who.revive(args), who.revive(kwargs)
        if who.is_wanted(args, kwargs):
            return who.called(operator, args, kwargs)
    for value in flat(args, kwargs):
        if hasattr(type(value), "__torch_function__") and not isinstance(value, Tensor):
            return handle(operator, args, kwargs)
    return op(*args, **kwargs)


class OpOverload:
    """One overload of an operator, as `torch.ops.aten.add.Tensor`: here the same function under each overload's name.

    Parameters
    ----------
    packet : OpOverloadPacket
        The operator.
    overload : str
        The overload's name.

    """

    def __init__(self, packet, overload):
        self.overloadpacket, self._overloadname = packet, overload
        self.namespace = packet._namespace
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = packet.__module__

    def __call__(self, *args, **kwargs):
        return _call(self, self.run, args, kwargs)

    def run(self, *args, **kwargs):
        """Call what stands for the overload."""
        packet = self.overloadpacket
        if packet._namespace != "aten":
            return packet.op(*args, **kwargs)
        found = RUN.get(f"{packet.__name__}.{self._overloadname}") or packet.op
        if kwargs:
            kwargs = {name: value for name, value in kwargs.items() if not (
                name in USUAL and any(value is usual for usual in USUAL[name]))}
        return found(*args, **kwargs)

    def name(self):
        """Return the operator's full name."""
        ending = "" if self._overloadname == "default" else "." + self._overloadname
        return self.overloadpacket._qualified_op_name + ending

    @property
    def _schema(self):
        packet = self.overloadpacket
        if packet._namespace == "dragon":
            return schema_of_engine(packet.__name__)
        known = overloads(packet.__name__) if packet._namespace == "aten" else {}
        return known.get(self._overloadname) or packet._schema

    op = property(lambda self: self.overloadpacket.op, doc="The function that is called.")

    def __str__(self):
        return f"{self.namespace}.{self.overloadpacket.__name__}.{self._overloadname}"

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self.overloadpacket.__name__}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator, as `torch.ops.aten.add`.

    Parameters
    ----------
    namespace : str
        Where it is.
    name : str
        What it is called there.
    op : Callable
        What a call runs.

    """

    def __init__(self, namespace, name, op):
        self._namespace, self.__name__, self.op = namespace, name, op
        self._qualified_op_name = f"{namespace}::{name}"
        self.__module__ = f"torch.ops.{namespace}"

    def __call__(self, *args, **kwargs):
        return _call(self, self.op, args, kwargs)

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        known = overloads(self.__name__) if self._namespace == "aten" else {"default": None}
        if known and overload not in known and not overload.endswith("out"):
            raise AttributeError(f"the underlying op of '{self}' has no overload name '{overload}'", name=overload)
        made = OpOverload(self, overload)
        setattr(self, overload, made)
        return made

    @property
    def _schema(self):
        return getattr(self.op, "schema", None)

    def overloads(self):
        """Return the names of the overloads."""
        return list(overloads(self.__name__) if self._namespace == "aten" else ()) or ["default"]

    def __str__(self):
        return f"{self._namespace}.{self.__name__}"

    __repr__ = __str__


class _OpNamespace:
    """The operators of one namespace."""

    def __init__(self, name):
        self.name = name
        self.__name__ = f"torch.ops.{name}"

    def __getattr__(self, name):
        if name.startswith("__") and not (self.name == "aten" and overloads(name)):
            raise AttributeError(name)
        if self.name == "higher_order":
            return _higher_order(name)
        op = lookup(f"{self.name}::{name}")
        if op is None and self.name == "dragon" and name in op_names():
            op = getattr(ops, name)
        if op is None and self.name in ("aten", "prims"):
            op = _aten(name) if self.name == "aten" else PRIMS.get(name)
        if op is None and self.name == "profiler":
            from dragon.vm.torch.autograd.profiler import MARKS
            op = MARKS.get(name)
        if op is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}': "
                                 "no operator of this name is registered", name=name)
        packet = OpOverloadPacket(self.name, name, op)
        setattr(self, name, packet)
        return packet

    def __repr__(self):
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


def _higher_order(name):
    """Return an operator that takes graphs."""
    if name not in OPERATORS:
        raise AttributeError(f"'_OpNamespace' 'higher_order' object has no attribute '{name}'", name=name)
    return OPERATORS[name]


def _aten(name):
    """Return what an aten name stands for: an adapted function, a function, a method, or None."""
    found = RUN.get(name) or ADAPTED.get(name) or FUNCTIONS.get(name) or Tensor.__dict__.get(name)
    if found is None:
        from dragon.vm import torch
        for room in (torch.nn.functional, torch.special, torch.linalg, torch.fft, torch.nn.utils.rnn):
            for known in (name, name.partition("_")[2]):
                found = found or room.__dict__.get(known)
    return found if callable(found) else None


NAMESPACES = {}


def namespace(name):
    """Return a namespace, made when first asked for."""
    if name not in NAMESPACES:
        NAMESPACES[name] = _OpNamespace(name)
    return NAMESPACES[name]


def packet_of(name):
    """Return an operator by its full name.

    Parameters
    ----------
    name : str
        Such as "mylib::scale".

    Returns
    -------
    OpOverloadPacket
        The operator.

    """
    space, _, found = name.partition("::")
    return getattr(namespace(space), found)
