"""`dragon.onnx.export`: a function, a module or a graph as an ONNX model."""
import inspect

from dragon import _C
from dragon.core import files
from dragon.core.warnings import warn
from dragon.onnx.capture import leaves, names_of
from dragon.onnx.conditions import decided
from dragon.onnx.errors import ExportError, load_package
from dragon.onnx.replay import Replay
from dragon.onnx.samples import capture_dynamic


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


def given_arguments(function, args, kwargs):
    """Return [(parameter, how many tensors it is given)], in the order of the tensors; None if nobody knows."""
    function = getattr(function, "forward", function)
    try:
        given = inspect.signature(function).bind_partial(*args).arguments
    except (TypeError, ValueError):
        return None
    counted = [(name, len(leaves(value))) for name, value in [*given.items(), *kwargs.items()]]
    return [(name, count) for name, count in counted if count]


def names_of_tensors(arguments):
    """Return the names of all tensors: their argument's, with a number where it has several."""
    return [name if count == 1 else f"{name}_{index}" for name, count in arguments or () for index in range(count)]


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


def is_axes(said):
    """Return whether something says which axes of one tensor are dynamic, rather than holding several that do."""
    if isinstance(said, dict):
        return all(isinstance(axis, int) for axis in said)
    return not isinstance(said, (list, tuple)) or not any(isinstance(item, (dict, list, tuple)) for item in said)


def spread_axes(said, count, name):
    """Return what is said of each tensor of an argument, from lists and dictionaries nested as the argument is."""
    if count == 1 and is_axes(said):
        return [said]
    if said is None:
        return [None] * count

    def flat(item):
        if is_axes(item):
            return [item]
        return [leaf for part in (item.values() if isinstance(item, dict) else item) for leaf in flat(part)]
    found = flat(said)
    if len(found) != count:
        raise ValueError(f"onnx.export: got dynamic shapes of {len(found)} tensors for argument '{name}'; expected "
                         f"{count}, nested as the argument is")
    return found


def axes_of_arguments(dynamic_shapes, names, arguments):
    """Return what `dynamic_shapes` says of each tensor: by argument, nested as it is, or by input."""
    arguments = arguments or [(name, 1) for name in names]
    numbered = names_of_tensors(arguments)
    if isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) > max(len(arguments), len(names)):
            raise ValueError(f"onnx.export: got dynamic shapes of {len(dynamic_shapes)} arguments; expected at most "
                             f"{len(names)}")
        if len(dynamic_shapes) > len(arguments) or not any(count > 1 for _, count in arguments):
            return [*dynamic_shapes, *[None] * (len(names) - len(dynamic_shapes))]
        dynamic_shapes = dict(zip((name for name, _ in arguments), dynamic_shapes))
    known = {*names, *numbered, *(name for name, _ in arguments)}
    unknown = [name for name, said in dynamic_shapes.items() if name not in known and said]
    if unknown:
        raise ValueError(f"onnx.export: got dynamic shapes of {unknown}; expected names among {sorted(known)}")
    whole = [said for name, count in arguments for said in spread_axes(dynamic_shapes.get(name), count, name)]
    return [dynamic_shapes.get(name, dynamic_shapes.get(number, said))
            for name, number, said in zip(names, numbered, whole)]


def input_axes(dynamic_axes, dynamic_shapes, tensors, names, arguments):
    """Return {axis: symbol} for each input from either way of saying so."""
    said = axes_of_arguments(dynamic_shapes, names, arguments) if dynamic_shapes else [None] * len(tensors)
    for name, named in (dynamic_axes or {}).items():
        if name in names:
            said[names.index(name)] = named
    return [axes_of_input(named, len(tensor.shape), name) for named, tensor, name in zip(said, tensors, names)]


def first_of(program, make):
    """Return the first of a program, and the same for fewer sizes, of which there is a model, and the model."""
    try:
        return program, make(program)
    except ExportError as error:
        for nearer in program.nearer(str(error)) if program.nearer else ():
            try:
                return nearer, make(nearer)
            except ExportError:
                continue
        raise


def wishes(said):
    """Yield (name, range, factor) of what has a name and a range in nested descriptions of sizes."""
    if isinstance(said, dict):
        said = said.values()
    elif not isinstance(said, (list, tuple)):
        if hasattr(said, "range") and hasattr(said, "__name__"):
            yield said.__name__, said.range, getattr(said, "factor", 1)
        return
    for item in said:
        yield from wishes(item)


def check_bounds(program, said):
    """Raise an ExportError where more sizes are asked for than the program holds for; warn of those left out."""
    for name, (low, high), factor in wishes(said):
        bounds = program.bounds.get(name)
        if bounds is not None and (bounds.high is not None and high > bounds.high or low > 2 and low < bounds.low
                                   or factor % bounds.multiple):
            raise ExportError(f"Constraints violated ({name})! Got sizes {low} to {high} asked for, expected those for "
                              f"which the program is the same, {bounds}: {'; '.join(bounds.reasons)}")
    for name, bounds in program.bounds.items():
        reasons = decided(bounds)
        if reasons and not bounds.is_open:
            warn(f"onnx.export: the model holds for {name}: {bounds}, since the program is another one elsewhere: "
                 + "; ".join(reasons))
    together = [*program.joint, *program.unsaid]
    if together:
        warn("onnx.export: the model does not hold for all sizes together: " + "; ".join(dict.fromkeys(together)))
    if program.unheard:
        warn("onnx.export: the model may not hold for all sizes together: " + program.unheard)


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
        {input or output: {axis: name}} or {input: [axes]}: sizes that are known at run time only. Instead of a name,
        "past + length" says that a size follows others.
    dynamic_shapes : Union[dict, tuple], optional
        The same by argument: {argument: {axis: name}}, or one entry per argument; of an argument that holds several
        tensors, nested as it is. Of inputs by their names, too.
    opset : int, optional, default=18
        The version of ONNX's operators.
    embed : bool, optional, default=True
        Whether parameters are written into the model; otherwise they are inputs of it.

    Returns
    -------
    onnx.ModelProto
        The model. An `UnsupportedOperatorError` names all operators without an expression at once; a `HardCodedError`
        tells which number depends on a dynamic size in a way the model cannot express. Where the program is the same
        at some sizes only, the property "dragon.sizes" of the model says which, and so does a warning.

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
        arguments = given_arguments(target, args, kwargs)
        inputs = spread_names(input_names, len(tensors), "input", names_of_tensors(arguments))
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
    labels = output_labels(dynamic_axes, outputs)
    program, model = first_of(program, lambda program: make_model(program, inputs, outputs, opset, labels, embed))
    check_bounds(program, dynamic_shapes)
    if path is not None:
        files.write(path, model.SerializeToString())
    return model
