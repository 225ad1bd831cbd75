"""Captures of a function for the exporter: once as it was called, and at other sizes where axes are dynamic."""
import re

import numpy

from dragon import _C
from dragon.core.capture.export import Sketch
from dragon.core.capture.lines import user_line
from dragon.core.capture.procedure import as_given
from dragon.core.capture.scopes import Scopes
from dragon.core.capture.settings import captures, eager
from dragon.core.capture.structure import Template
from dragon.core.modes import shapes_only
from dragon.core.module import Module
from dragon.onnx.errors import ExportError, HardCodedError
from dragon.onnx.source import Plain, Program, evaluate, ops, overlay, read_graph

WORDS, EXPRESSION = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\w+(\s*[-+*]\s*\w+)+")


def structure_of(value):
    """Return the structure of arguments or results; objects other than modules are looked into.

    What an object keeps under names with an underscore is its own business, unless it has tensors nowhere else.
    """
    return Template(value, merge=False, known=(), whole=(Module,), private=False)


def leaves(value):
    """Return the tensors in nested tuples, lists, dictionaries and objects, in order."""
    return structure_of(value).tensors


def address_of(tensor):
    """Return what tells the memory of a tensor from others'."""
    detached = _C.as_class(tensor, Plain).detach()
    if tensor.dtype.name == "bfloat16":
        detached = ops.view_dtype(detached, _C.dtype("int16"))
    array = detached.numpy()
    return array.__array_interface__["data"][0], array.shape, array.strides


def names_of(target):
    """Return {memory: name} of what a module's `state_dict` lists; nothing for a plain function."""
    owner = target if hasattr(target, "state_dict") else getattr(target, "__self__", None)
    if not callable(getattr(owner, "state_dict", None)):
        return {}
    return {address_of(tensor): name for name, tensor in reversed(list(owner.state_dict().items()))
            if isinstance(tensor, _C.Tensor)}


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
    captures().append(Sketch(tracer, exports=True))
    try:
        with shapes_only(), eager():
            tracer.start()
            scribe.start()
            try:
                found = structure_of(function(*args, **kwargs))
                # Fresh row-major results, so that each of them is a value of the graph.
                results = [ops.to_row_major(_C.as_class(tensor, Plain)) for tensor in found.tensors]
            finally:
                scribe.stop()
                tracer.stop()
    except Exception as error:
        if tracer.failure:
            raise ExportError(f"the calls cannot be captured: {tracer.failure}") from error
        raise
    finally:
        captures().pop()
    if tracer.failure or found.refusal:
        raise ExportError(f"the calls cannot be captured: {tracer.failure or found.refusal}")
    if not results:
        raise ExportError("the function returns no tensors")
    return tracer.finish(results)


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
    captured = trace(function, args, kwargs)
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


def resize(tensor, sizes):
    """Return a tensor like another with some axes of other sizes, their places repeated in turn."""
    made = _C.as_class(tensor, Plain).detach()
    for axis, size in sizes.items():
        places = numpy.arange(size) % max(made.shape[axis], 1)
        made = ops.index_select(made, axis, _C.tensor(places.tolist(), "int64", None, Plain))
    return _C.as_class(made, type(tensor))


def choices(size):
    """Yield triples of sizes to capture at: the given one where it is not special, and others near or far."""
    first = size if size > 1 else 2
    yield first, first + 1, 4 * first + 3
    yield first, first + 1, first + 3
    yield first, 2 * first, 3 * first
    if size > 3:
        yield first, first - 1, first - 2
    if size % 4 == 0:
        yield first, first // 2, first // 4


def assignments(triples):
    """Return the sizes of all symbols in each capture."""
    names = list(triples)
    plans = [{name: triples[name][0] for name in names}]
    if len(names) > 1:
        plans += [{**plans[0], name: triples[name][1]} for name in names]
    return plans + [{name: triples[name][place] for name in names} for place in (1, 2)]


def take_following(given):
    """Take the sizes that follow others, as "past + 1" does, out of {symbol: size}; return their texts."""
    following = [text for text in given if EXPRESSION.fullmatch(text) and set(WORDS.findall(text)) <= given.keys()]
    sizes = {text: given.pop(text) for text in following}
    for text, size in sizes.items():
        if not set(WORDS.findall(text)) <= given.keys():
            raise ValueError(f"onnx.export: got size '{text}', expected names of sizes of inputs in it")
        if evaluate(text, given) != size:
            raise ValueError(f"onnx.export: got size {size} for '{text}', expected {evaluate(text, given)} where "
                             + ", ".join(f"{name} is {given[name]}" for name in WORDS.findall(text)))
    return following


def capture_dynamic(function, args, kwargs, names, axes):
    """Return the program of a function whose inputs have dynamic axes.

    The function is captured at several sizes, without computing anything. What differs between the captures must
    follow the sizes; if it does not, a HardCodedError says what was hard-coded.

    Parameters
    ----------
    function : callable
        What is captured.
    args : tuple
        Its arguments.
    kwargs : dict
        Its named arguments.
    names : dict
        {memory: name} of parameters.
    axes : list of dict
        For each input {axis: symbol}.

    Returns
    -------
    Program
        With Sizes where the captures differ.

    """
    arguments = structure_of((args, kwargs))
    inputs = arguments.tensors
    given = {symbol: inputs[place].shape[axis] for place, named in enumerate(axes) for axis, symbol in named.items()}
    if not given:
        return capture(function, *arguments.fill(inputs), names)
    following = take_following(given)
    error = None
    for triples in zip(*map(choices, given.values())):
        plans = assignments(dict(zip(given, triples)))
        try:
            programs = []
            for plan in plans:
                sizes = {**plan, **{text: evaluate(text, plan) for text in following}}
                tensors = [resize(tensor, {axis: sizes[symbol] for axis, symbol in named.items()})
                           for tensor, named in zip(inputs, axes)]
                programs.append(capture(function, *arguments.fill(tensors), names))
            program = overlay(programs, {symbol: tuple(plan[symbol] for plan in plans) for symbol in given})
            program.following = {text: tuple(evaluate(text, plan) for plan in plans) for text in following}
            return program
        except HardCodedError as failure:
            raise failure
        except (ExportError, IndexError, RuntimeError, TypeError, ValueError) as failure:
            error = error or failure
    raise HardCodedError(f"the function cannot be called at other sizes of {', '.join(given)}: {error}") from error
