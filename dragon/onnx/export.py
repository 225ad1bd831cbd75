"""`dragon.onnx.export`: a function, a module or a graph as an ONNX model."""
import inspect

from dragon import _C
from dragon.core import files
from dragon.onnx.capture import capture_dynamic, leaves, names_of
from dragon.onnx.errors import ExportError, load_package
from dragon.onnx.replay import Replay


def symbol_of(size, axis):
    """Return the name of a dynamic size: a string, something with a `__name__`, or made from where it stands.

    Sizes without names are the same where they stand at the same axis, as a batch does.
    """
    return size if size and isinstance(size, str) else getattr(size, "__name__", None) or f"dynamic_axes_{axis + 1}"


def axes_of_input(named, ndim, name):
    """Return {axis: symbol} from what was said of one input's axes."""
    if not named:
        return {}
    if not isinstance(named, dict):
        items = enumerate(named)
        if all(isinstance(item, int) and not isinstance(item, bool) for item in named):
            items = ((axis, "") for axis in named)
        named = {axis: size for axis, size in items if size is not None}
    found = {}
    for axis, size in named.items():
        if size is None or isinstance(size, int) or getattr(size, "kind", "") == "STATIC":
            continue
        if not -ndim <= axis < ndim:
            raise ValueError(f"onnx.export: got dynamic axis {axis} of input '{name}'; expected {-ndim} to {ndim - 1}")
        found[axis % ndim] = symbol_of(size, axis % ndim)
    return found


def argument_names(function, args, kwargs):
    """Return the name of the parameter that each tensor argument is given to."""
    function = getattr(function, "forward", function)
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return []
    names = []
    for name, value in bound.arguments.items():
        count = len(leaves(value))
        names += [name] if count == 1 else [f"{name}_{index}" for index in range(count)]
    return names


def spread_names(given, count, what, hints=()):
    """Return names for all inputs or outputs: those given, then hints, then numbers."""
    given = list(given or ())
    if len(given) > count:
        raise ValueError(f"onnx.export: got {len(given)} {what} names; expected at most {count}")
    names = given + [name for name in hints[len(given):count]]
    names += [f"{what}_{index}" for index in range(len(names), count)]
    if len(set(names)) != len(names):
        raise ValueError(f"onnx.export: got {what} names {names}; expected no two alike")
    return names


def input_axes(dynamic_axes, dynamic_shapes, tensors, names, arguments):
    """Return {axis: symbol} for each input from either way of saying so."""
    said = [None] * len(tensors)
    if dynamic_shapes:
        shapes = list(dynamic_shapes) if isinstance(dynamic_shapes, (tuple, list)) else None
        for place, (name, argument) in enumerate(zip(names, arguments or names)):
            if shapes is not None:
                said[place] = shapes[place] if place < len(shapes) else None
            else:
                said[place] = dynamic_shapes.get(name, dynamic_shapes.get(argument))
    for name, named in (dynamic_axes or {}).items():
        if name in names:
            said[names.index(name)] = named
    return [axes_of_input(named, len(tensor.shape), name) for named, tensor, name in zip(said, tensors, names)]


def output_labels(dynamic_axes, names):
    """Return {output: {axis: name}} of what was said of outputs."""
    labels = {}
    for name, named in (dynamic_axes or {}).items():
        if name in names:
            labels[name] = dict(named) if isinstance(named, dict) else {
                axis: f"{name}_dynamic_axes_{number}" for number, axis in enumerate(named, 1)}
    return labels


def export(target, args=(), path=None, *, kwargs=None, input_names=None, output_names=None, dynamic_axes=None,
           dynamic_shapes=None, opset=18, embed=True):
    """Write a function, a module or a graph as an ONNX model.

    Parameters
    ----------
    target : Union[callable, dragon._C.Graph]
        What is exported. A callable is captured with the arguments; what it draws from its parameters and from tensors
        outside becomes initializers, under the names of its `state_dict`.
    args : Union[tuple, dragon._C.Tensor], optional, default=()
        Example arguments. Their tensors are the model's inputs, everything else is baked in.
    path : Union[str, pathlib.Path], optional
        Where the model is saved.
    kwargs : dict, optional
        Example arguments by name.
    input_names, output_names : List[str], optional
        Names of the model's inputs and outputs, in order.
    dynamic_axes : dict, optional
        {input or output: {axis: name}} or {input: [axes]}: sizes that are known at run time only.
    dynamic_shapes : Union[dict, tuple], optional
        The same by argument: {argument: {axis: name}}, or one entry per input.
    opset : int, optional, default=18
        The version of ONNX's operators.
    embed : bool, optional, default=True
        Whether parameters are written into the model; otherwise they are inputs of it.

    Returns
    -------
    onnx.ModelProto
        The model. An `UnsupportedOperatorError` names all operators without an expression at once; a `HardCodedError`
        tells which number depends on a dynamic size in a way the model cannot express.

    """
    load_package("onnx")
    from dragon.onnx.model import make_model
    if isinstance(target, _C.Graph):
        replay = Replay(target)
        hints = [face.name or f"input_{place}" for place, face in enumerate(replay.faces)]
        inputs = spread_names(input_names, len(hints), "input", hints)
        program = capture_dynamic(replay, replay.examples(), {}, names_of(replay), replay.axes())
    elif callable(target):
        args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
        if args and isinstance(args[-1], dict) and kwargs is None:
            args, kwargs = args[:-1], args[-1]
        kwargs = kwargs or {}
        tensors = leaves((args, kwargs))
        arguments = argument_names(target, args, kwargs)
        inputs = spread_names(input_names, len(tensors), "input", arguments)
        axes = input_axes(dynamic_axes, dynamic_shapes, tensors, inputs, arguments)
        program = capture_dynamic(target, args, kwargs, names_of(target), axes)
    else:
        raise TypeError(f"onnx.export: got {type(target).__name__}; expected a function, a module or a graph")
    outputs = spread_names(output_names, len(program.outputs), "output")
    if set(inputs) & set(outputs):
        raise ExportError(f"names of both inputs and outputs: {sorted(set(inputs) & set(outputs))}")
    unknown = set(dynamic_axes or ()) - set(inputs) - set(outputs)
    if unknown:
        raise ValueError(f"onnx.export: got dynamic axes of {sorted(unknown)}; expected names among {inputs + outputs}")
    model = make_model(program, inputs, outputs, opset, output_labels(dynamic_axes, outputs), embed)
    if path is not None:
        files.write(path, model.SerializeToString())
    return model
