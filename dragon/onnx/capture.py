"""Captures of a function for the exporter."""

from dragon import _C
from dragon.core import modes
from dragon.core.capture.export import Sketch
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.procedure import as_given
from dragon.core.capture.scopes import Scopes
from dragon.core.capture.settings import begin_capture, eager
from dragon.core.capture.structure import Template
from dragon.core.interrupts import is_interrupt
from dragon.core.modes import shapes_only
from dragon.core.module import Module
from dragon.core.scopes import ExitStack, contextmanager
from dragon.onnx.errors import ExportError
from dragon.onnx.source import Plain, Program, address_of, ops, read_graph


def structure_of(value):
    """Return the structure of arguments or results; objects other than modules are looked into.

    What an object keeps under names with an underscore is its own business, unless it has tensors nowhere else.
    """
    return Template(value, merge=False, known=(), whole=(Module,), private=False)


def leaves(value):
    """Return the tensors in nested tuples, lists, dictionaries and objects, in order."""
    return structure_of(value).tensors


def names_of(target):
    """Return {memory: name} of what a module's `state_dict` lists; nothing for a plain function."""
    owner = target if hasattr(target, "state_dict") else getattr(target, "__self__", None)
    if not callable(getattr(owner, "state_dict", None)):
        return {}
    return {address_of(tensor): name for name, tensor in reversed(list(owner.state_dict().items()))
            if isinstance(tensor, _C.Tensor)}


def fresh(tensors):
    """Return row-major copies of results, so that each of them is a value of the graph."""
    return [ops.to_row_major(_C.as_class(tensor, Plain)) for tensor in tensors]


def trace(function, args, kwargs):
    """Return what the engine wrote down of one call.

    Parameters
    ----------
    function : callable
        What is called.
    args : tuple
        Its arguments; the tensors among them are the inputs.
    kwargs : dict
        Its named arguments.

    Returns
    -------
    dragon._C.Capture
        The graph, and where its inputs come from.

    """
    tracer, scribe = _C.Trace(), _C.Scribe()  # a scribe is there: few numbers made of sizes alone are known
    tracer.set_place(user_line)
    tracer.set_scope(Scopes())
    args, kwargs, given = _without_numbers(args, kwargs)
    for tensor in given:
        tracer.add_input(tensor)
    try:
        with modules_as_found(function), shapes_only(), eager(), ExitStack() as exits:
            begin_capture(exits, Sketch(tracer, exports=True), tracer)
            exits.callback(scribe.stop)
            scribe.start()
            found = structure_of(function(*args, **kwargs))
            results = fresh(found.tensors)
    except Exception as error:
        if tracer.failure and not is_interrupt(error):
            raise ExportError(f"the calls cannot be captured: {tracer.failure}") from error
        raise
    if tracer.failure or found.refusal:
        raise ExportError(f"the calls cannot be captured: {tracer.failure or found.refusal}")
    if not results:
        raise ExportError("the function returns no tensors")
    return tracer.finish(results)


def is_absent(value):
    """Return whether something is a tensor without numbers."""
    if not isinstance(value, _C.Tensor):
        return False
    try:
        address_of(value)
    except RuntimeError as error:
        return modes.is_absent(error)
    return False


@contextmanager
def modules_as_found(function):
    """Take from modules what they keep for their next call and has no numbers, made in a run of shapes only."""
    owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
    states = [vars(module) for module in owner.modules()] if hasattr(owner, "modules") else []
    places = states + [held for state in states for held in state.values() if isinstance(held, dict)]
    before = [dict(place) for place in places]
    try:
        yield
    finally:
        for place, held in zip(places, before):
            for name in [name for name, value in place.items() if value is not held.get(name) and is_absent(value)]:
                del place[name]
                if name in held:
                    place[name] = held[name]


def _without_numbers(args, kwargs):
    """Return arguments whose tensors have no numbers, which are no part of a graph, and those tensors.

    Integers stay: packed sequences, for one, are taken apart by theirs.
    """
    given = leaves((args, kwargs))
    template = Template((args, kwargs), merge=False)
    if [id(tensor) for tensor in template.tensors] != [id(tensor) for tensor in given]:
        return args, kwargs, given
    given = [blank if tensor.dtype.is_floating_point else tensor for tensor, blank in zip(given, as_given(given))]
    return (*template.fill(given), given)


def capture(function, args, kwargs, names):
    """Return the program of one call; tensors that it found by itself are constants, under their names."""
    return read_capture(trace(function, args, kwargs), names)


def read_capture(captured, names):
    """Return the program of what was captured.

    Parameters
    ----------
    captured : dragon._C.Capture
        The graph, and where its inputs come from.
    names : dict
        {memory: name} of parameters.

    Returns
    -------
    Program
        Tensors that the call found by itself are constants, under their names.

    """
    program = read_graph(captured.graph)
    inputs, constants = [], list(program.constants)
    for value, (source, tensor) in zip(program.inputs, captured.inputs):
        if source == "argument":
            inputs.append(value)
        elif source == "outside":
            value.tensor, value.name = tensor, names.get(address_of(tensor), value.name or "outside")
            constants.append(value)
        else:
            raise ExportError("the function computes gradients, which ONNX graphs cannot hold")
    return Program(program.name, inputs, program.outputs, constants, program.calls, (), program.symbols)
