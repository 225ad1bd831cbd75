"""Steps of scripts that call functions, read attributes, run Python code or raise: how programs write them."""
from dragon.vm.torch.core.scripting.instances import type_of_instance
from dragon.vm.torch.core.scripting.running import Unfit, convert
from dragon.vm.torch.core.scripting.types import NONE


class Error(RuntimeError):
    """A script has raised."""


def call_function(node, told, keep):
    """Return a call of a function."""
    return f"{keep(node.attributes['function'])}.run({', '.join(told)})", False


def call_method(node, told, keep):
    """Return a call of a method: that of the instance, where only an interface is known."""
    if node.attributes["function"] is not None:
        return call_function(node, told, keep)
    return f"{keep(method_of)}({told[0]}, {node.attributes['name']!r}).run({', '.join(told)})", False


def get_attribute(node, told, keep):
    """Return the reading of an attribute."""
    return f"{keep(read_attribute)}({told[0]}, {node.attributes['name']!r})", False


def set_attribute(node, told, keep):
    """Return the setting of an attribute."""
    return f"{keep(write_attribute)}({told[0]}, {node.attributes['name']!r}, {told[1]})", True


def call_python(node, told, keep):
    """Return a call of Python code, whose result becomes what the script was told."""
    function, kind = node.attributes["call"], node.outputs_[0].type
    if kind == NONE:
        return f"({keep(function)}({', '.join(told)}), None)[1]", False
    name = getattr(function, "__name__", "a function")

    def fitted(value):
        try:
            return convert(value, kind)
        except Unfit:
            raise RuntimeError(f"{name}: got a result of type '{type(value).__name__}', expected "
                               f"'{kind.annotation()}', as the function's annotation says") from None
    return f"{keep(fitted)}({keep(function)}({', '.join(told)}))", False


def raise_exception(node, told, keep):
    """Return what raises."""
    place = node.place

    def run(message, kind=None, *rest):
        name = "" if kind is None else str(kind).rpartition(".")[2] + ": "
        raise Error("The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript "
                    f"(most recent call last):\n{place}\n{name or 'RuntimeError: '}{message}")
    return f"{keep(run)}({', '.join(told)})", True


def context(name):
    """Return what writes the beginning or end of a `with` block."""
    def write(node, told, keep):
        kind = node.inputs_[0].type
        function = kind.unit.method(kind, name) if kind.unit is not None else kind.method(name)
        rest = ["None"] * (len(function.schema.arguments) - 1)
        return f"{keep(function)}.run({', '.join([told[0], *rest])})", False
    return write


MAKERS = {"prim::CallFunction": call_function, "prim::CallMethod": call_method, "prim::GetAttr": get_attribute,
          "prim::SetAttr": set_attribute, "prim::PythonOp": call_python, "prim::RaiseException": raise_exception,
          "prim::Enter": context("__enter__"), "prim::Exit": context("__exit__")}


def read_attribute(owner, name):
    """Return an attribute of a module or instance."""
    known = owner.__dict__
    if name in known:
        return known[name]
    for table in ("_parameters", "_modules", "_buffers"):
        if table in known and name in known[table]:
            return known[table][name]
    return getattr(owner, name)


def write_attribute(owner, name, value):
    """Set an attribute of a module or instance."""
    known = owner.__dict__
    for table in ("_parameters", "_buffers", "_modules"):
        if table in known and name in known[table]:
            known[table][name] = value
            return
    known[name] = value


def method_of(value, name):
    """Return a method of an instance."""
    kind = type_of_instance(value)
    found = kind.methods.get(name) if kind is not None else None
    if found is None and kind is not None and kind.made is not None:
        found = kind.unit.method(kind, name)
    if found is None:
        raise Error(f"script: got an instance of {type(value).__name__}, which has no method {name}")
    return found.ready()
