"""Traces as scripts: a call with the examples runs on stand-ins for tensors, call by call."""
import inspect

from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.scripting import resolving
from dragon.vm.torch.core.scripting.compiler import prune
from dragon.vm.torch.core.scripting.graph import Argument, Schema
from dragon.vm.torch.core.scripting.modules import RecursiveScriptModule
from dragon.vm.torch.core.scripting.packing import Made
from dragon.vm.torch.core.scripting.scripts import python_scripts
from dragon.vm.torch.core.scripting.types import BOOL, NONE, TENSOR, ClassType
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.scripting.standins import Recorder, StandIn


def record(traced, tracing, as_constants=False):
    """Return the scripted module of what was traced.

    Parameters
    ----------
    traced : Union[TopLevelTracedModule, TracedFunction]
        What `torch.jit.trace` returned.
    tracing : ContextManager
        Within which programs are told that they are traced.
    as_constants : bool, optional, default=False
        Whether weights are constants of the code, as of a frozen module.

    Returns
    -------
    RecursiveScriptModule
        A module whose forward pass is the call with the examples, sizes left open where the program reads them, and
        so are the other methods that were traced.

    """
    from dragon.vm.torch.nn import Module
    kind, made = describe(traced, {}, as_constants) if isinstance(traced, Module) else blank()
    for name, method in (traced.__dict__.get("_methods") or {"forward": traced}).items():
        record_method(method, name, kind, tracing, as_constants)
    return made


def record_method(traced, method, kind, tracing, as_constants):
    """Enter a method in a type: what was traced, written down."""
    from dragon.vm.torch.nn import Module
    args, kwargs = traced._examples
    name = traced.__dict__.get("original_name") or getattr(traced, "name", "function")
    recorder = Recorder(name)
    owner = recorder.compiler.graph.take(kind, "self")
    inputs = [("self", kind)]

    def taken(key, example):
        if isinstance(example, Tensor):
            kind_of = TENSOR
        else:
            kind_of = resolving.type_of_value(recorder.compiler.scripts, example)
        inputs.append((key, kind_of))
        return stand(recorder, copied(example), recorder.compiler.graph.take(kind_of, key))
    names = argument_names(traced, len(args))
    args = [taken(key, example) for key, example in zip(names, args)]
    kwargs = {key: taken(key, example) for key, example in kwargs.items()}
    function = traced._function
    if isinstance(traced, Module):
        function = rehearse(recorder, traced, function, owner, as_constants)
    with ExitStack() as exits:
        exits.switch(modes.set_recording, False)
        with tracing:
            found = function(*args, **kwargs)
        result = recorder.value(found)
    graph = recorder.compiler.graph
    graph.outputs_.append(result)
    prune(graph)
    schema = Schema(method, "", [Argument(key, inner) for key, inner in inputs], result.type)
    kind.methods[method] = Made(method, f"{kind.qualified}.{method}", schema, graph)


def copied(example):
    """Return an example that may be written to."""
    if isinstance(example, Tensor):
        return example.detach().clone()
    if isinstance(example, (list, tuple)) and not hasattr(example, "_fields"):
        return type(example)(map(copied, example))
    return {key: copied(part) for key, part in example.items()} if isinstance(example, dict) else example


def stand(recorder, example, value):
    """Return an example with stand-ins for its tensors."""
    if isinstance(example, dict):
        return {key: stand(recorder, part, recorder.compiler.builtin(
            "aten::__getitem__", [value, recorder.compiler.constant(key)], {}, recorder.node))
            for key, part in example.items()}
    return recorder.bind(example, value) if not isinstance(example, int) else example


def argument_names(traced, count):
    """Return the names of arguments that were given in a row."""
    try:
        known = [name for name in inspect.signature(
            traced._function.forward if hasattr(traced._function, "forward") else traced._function).parameters]
    except (TypeError, ValueError):
        known = []
    known = [name for name in known if name not in ("args", "kwargs", "self")][:count]
    return known + [f"argument_{number}" for number in range(len(known), count)]


def blank():
    """Return the type and module of a traced function."""
    kind = ClassType("__torch__.PlaceholderModule", is_module=True)
    kind.unit = python_scripts()
    kind.attributes["training"] = BOOL
    return kind, RecursiveScriptModule(kind)


def describe(module, known, as_constants):
    """Return the type of a traced module, and a module of it that shares the tensors."""
    if id(module) in known:
        return known[id(module)]
    kind = ClassType(f"__torch__.{module.original_name}" if hasattr(module, "original_name") else "__torch__.Module",
                     is_module=True)
    kind.unit = python_scripts()
    made = RecursiveScriptModule(kind)
    known[id(module)] = kind, made
    made.training = module.training
    for table, names in (("_parameters", kind.parameters), ("_buffers", kind.buffers)):
        for name, tensor in getattr(module, table).items() if not as_constants else ():
            names.append(name)
            kind.attributes[name] = NONE if tensor is None else TENSOR
            getattr(made, table)[name] = tensor
    for name, part in module._modules.items() if not as_constants else ():
        if part is None:
            kind.attributes[name] = NONE
            made.__dict__[name] = None
        else:
            kind.attributes[name], made._modules[name] = describe(part, known, as_constants)
    kind.attributes["training"] = BOOL
    return kind, made


def rehearse(recorder, traced, function, owner, as_constants):
    """Return the traced code on copies of the modules whose tensors are stand-ins."""
    import copy
    source = function if not inspect.ismethod(function) else function.__self__
    known = {}

    def twin(module, path):
        if id(module) in known:
            return known[id(module)]
        made = copy.copy(module)
        known[id(module)] = made
        made.__dict__ = dict(module.__dict__)
        for table in ("_parameters", "_buffers"):
            made.__dict__[table] = {name: None if tensor is None else weight(tensor, (*path, name))
                                    for name, tensor in module.__dict__[table].items()}
        made.__dict__["_modules"] = {name: None if part is None else twin(part, (*path, name))
                                     for name, part in module._modules.items()}
        return made

    def weight(tensor, path):
        if as_constants:
            value = recorder.compiler.constant(tensor.detach(), TENSOR)
        else:
            value = owner
            for name in path:
                kind = value.type.attributes[name]
                value = recorder.compiler.emit("prim::GetAttr", [value], (kind,), name=name)
        return StandIn(recorder, tensor.detach().clone(), value)
    copied_module = twin(source, ())
    return copied_module if source is function else getattr(copied_module, function.__name__)
