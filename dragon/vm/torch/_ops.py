"""`torch.ops`: operators by namespace and name, PyTorch's own as `torch.ops.aten.add` and those that scripts register.

An aten name stands for the function or method of that name here; Dragon has no separate operators behind them. Dragon's
own are `torch.ops.dragon`: graphs of gradients call those that PyTorch has no name for.
"""
from dragon._C import op_names
from dragon.vm.torch.core.aten import table
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.core.exporting.higher_order import OPERATORS
from dragon.vm.torch.core.exporting.overload_resolution import NoOverload, resolve
from dragon.vm.torch.core.exporting.schemas import overloads, schema_of_engine
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.overrides import beneath, flat, handle
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.operators import lookup
from dragon.vm.torch.core.tensor import Tensor, ops


# Of factories, said by every exported program; here there is nothing else.
USUAL = {"pin_memory": (None, False), "layout": (None, strided), "non_blocking": (None, False)}


def _call(operator, op, args, kwargs):
    """Call an operator; what is no tensor and answers calls itself, as graphs' stand-ins do, is told of it."""
    if current_tracer() is not None:
        return current_tracer().called(operator, args, kwargs)
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

    def __call__(self, /, *args, **kwargs):  # operators have an argument `self`
        return _call(self, self.run, args, kwargs)

    def run(self, /, *args, **kwargs):
        """Call what stands for the overload."""
        packet = self.overloadpacket
        if packet._namespace != "aten":
            return packet.op(*args, **kwargs)
        found = table.function_of(packet.__name__, self._overloadname) or packet.op
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

    def __call__(self, /, *args, **kwargs):
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
    """Return what computes an operator of PyTorch's whatever the overload, or None."""
    other = table.namesake(name)
    if not table.has_row(name):
        return other

    def compute(*args, **kwargs):
        out = kwargs.pop("out", None)
        try:
            overload, args, kwargs = resolve(name, args, kwargs)
            found = table.function_of(name, overload) or other
        except NoOverload:  # of an operator that only scripts may name, or with arguments that only the API takes
            found = table.fitting(name, args, kwargs) or other
            if found is None:
                raise
        made = found(*args, **kwargs)
        return made if out is None else deliver(made, out)
    compute.__name__ = compute.__qualname__ = name
    return compute


def _convert_element_type(a, dtype):
    """Return a tensor in another dtype."""
    return a.to(dtype)


PRIMS = {"convert_element_type": _convert_element_type}
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
