"""Pictures of models: drawn here, as SVG or by Pillow, so that neither Graphviz nor pydot must be installed."""
import os

from dragon.core import files
from dragon.vm.keras.core import tree

_FILLS = {"input": "#e3edf7", "other": "#efe9f7", "frozen": "#f7e3e3"}


def _is_nested(operation):
    from dragon.vm.keras.models.functional import Functional
    from dragon.vm.keras.models.sequential import Sequential
    return isinstance(operation, (Functional, Sequential))


def _is_sequential(operation):
    from dragon.vm.keras.models.sequential import Sequential
    return isinstance(operation, Sequential)


def _last_of(operation, index):
    """Return what makes an output of a model, as deep as models go."""
    while _is_nested(operation):
        history = operation.outputs[index]._keras_history
        operation, index = history.operation, history.tensor_index
    return operation


def _first_of(operation, index):
    """Return what takes an input of a model, as deep as models go."""
    while _is_nested(operation):
        operation = operation.layers[0] if _is_sequential(operation) else (
            operation.inputs[index]._keras_history.operation)
    return operation


def collect(model, expand_nested):
    """Return the operations of a model, and pairs of those of which one reads the other. ...

    Returns
    -------
    Tuple[List[Operation], List[Tuple[Operation, Operation]]]
        Operations and pairs.

    """
    if not _is_nested(model):
        return [model], []
    operations, pairs = [], []
    steps = model.layers if _is_sequential(model) else model._operations
    for step in steps:
        if expand_nested and _is_nested(step):
            inner, between = collect(step, True)
            operations, pairs = operations + inner, pairs + between
        else:
            operations.append(step)
    if _is_sequential(model):
        found = [(first, 0, second, 0) for first, second in zip(steps, steps[1:])]
    else:
        found = _edges_of(model)
    for source, output, target, place in found:
        pair = (_last_of(source, output), _first_of(target, place)) if expand_nested else (source, target)
        if pair not in pairs:
            pairs.append(pair)
    return operations, pairs


def _edges_of(model):
    """Return (source, which output, target, which input) for each tensor that a layer of a model reads."""
    from dragon.vm.keras.core.function import make_node_key
    made = []
    for operation in model._operations:
        for index, node in enumerate(operation._inbound_nodes):
            if make_node_key(operation, index) not in model._nodes:
                continue
            for place, tensor in enumerate(node.input_tensors):
                history = tensor._keras_history
                if history.operation is not None:
                    made.append((history.operation, history.tensor_index, operation, place))
    return made


def _of_tensors(layer, side, field):
    """Return shapes or dtypes of what goes into a layer or comes out of it, as text."""
    try:
        value = tree.map_structure(lambda x: getattr(x, field), getattr(layer, side))
    except (ValueError, AttributeError):
        return "?"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items())
    return str(value)


def describe(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable):
    """Return what a box says of a layer, line by line."""
    kind = type(layer).__name__
    lines = [f"{layer.name} ({kind})" if show_layer_names else kind]
    activation = getattr(layer, "activation", None)
    if show_layer_activations and activation is not None:
        lines.append(f"Activation: {getattr(activation, 'name', None) or getattr(activation, '__name__', activation)}")
    if show_shapes:
        if kind != "InputLayer":
            lines.append(f"Input shape: {_of_tensors(layer, 'input', 'shape')}")
        lines.append(f"Output shape: {_of_tensors(layer, 'output', 'shape')}")
    if show_dtype:
        lines.append(f"Output dtype: {_of_tensors(layer, 'output', 'dtype')}")
    if show_trainable and getattr(layer, "weights", None):
        lines.append("Trainable" if layer.trainable else "Non-trainable")
    return lines


def _check(model, options):
    if not getattr(model, "built", False):
        raise ValueError("This model has not yet been built. Build the model first by calling `build()` or by calling "
                         f"the model on a batch of data. Received: model={model}")
    if options.pop("layer_range", None) is not None:
        raise ValueError("Argument `layer_range` is no longer supported. Received: layer_range")
    if options:
        raise ValueError(f"Unrecognized keyword arguments. Received: {options}")


def model_to_dot(model, show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False,
                 dpi=200, subgraph=False, show_layer_activations=False, show_trainable=False, splines="ortho",
                 **kwargs):
    """Return a model as a graph of pydot's; the arguments are those of `plot_model`.

    Returns
    -------
    pydot.Dot
        The graph; `subgraph` makes a cluster of it.

    """
    _check(model, kwargs)
    try:
        import pydot
    except ImportError:
        raise ImportError("You must install pydot (`pip install pydot`) for model_to_dot to work.") from None
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name, label=model.name, labeljust="l")
    else:
        dot = pydot.Dot(rankdir=rankdir, concentrate=True, dpi=dpi, splines=splines)
        dot.set_node_defaults(shape="box")
    operations, pairs = collect(model, expand_nested)
    for layer in operations:
        lines = describe(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable)
        dot.add_node(pydot.Node(str(id(layer)), label="\\n".join(lines), fontname="Helvetica"))
    for source, target in pairs:
        dot.add_edge(pydot.Edge(str(id(source)), str(id(target))))
    return dot


def plot_model(model, to_file="model.png", show_shapes=False, show_dtype=False, show_layer_names=False, rankdir="TB",
               expand_nested=False, dpi=200, show_layer_activations=False, show_trainable=False, splines="ortho",
               **kwargs):
    """Draw a model into a file.

    Parameters
    ----------
    model : Model
        A model that is built.
    to_file : str, optional, default="model.png"
        Where; its ending tells the form: ".svg", or what Pillow writes, ".png", ".jpg", ".pdf" ...
    show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable : bool, optional, default=False
        What boxes tell of layers.
    rankdir : str, optional, default="TB"
        From where to where: "TB", from top to bottom, "BT", "LR" or "RL".
    dpi : int, optional, default=200
        Dots to an inch; does not matter for ".svg".
    splines : str, optional, default="ortho"
        How Graphviz would draw lines; here they are curves.

    Returns
    -------
    Optional[IPython.display.Image]
        The picture, where IPython is installed.

    """
    from dragon.core.drawing import Picture
    _check(model, kwargs)
    if rankdir not in ("TB", "BT", "LR", "RL"):
        raise ValueError(f'plot_model: got rankdir={rankdir!r}, expected one of "TB", "BT", "LR", "RL"')
    operations, pairs = collect(model, expand_nested)
    places = {id(layer): place for place, layer in enumerate(operations)}
    boxes = []
    for layer in operations:
        lines = describe(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable)
        frozen = show_trainable and lines[-1] == "Non-trainable"
        boxes.append(("input" if type(layer).__name__ == "InputLayer" else "frozen" if frozen else "other", lines))
    edges = [(places[id(source)], places[id(target)]) for source, target in pairs]
    _save(Picture(model.name, boxes, edges, rankdir), str(to_file), dpi)
    return _shown(str(to_file))


def _save(picture, path, dpi):
    kind = os.path.splitext(path)[1][1:].lower()
    if kind == "svg":
        files.write(path, picture.svg())
        return
    from dragon.vm.shared.files.pictures import pillow
    pillow("plot_model")
    from PIL import Image, ImageDraw, ImageFont
    scale = dpi / 96
    image = Image.new("RGB", (round(picture.width * scale), round(picture.height * scale)), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(10.5 * scale)
    for points in picture.lines():
        draw.line([(x * scale, y * scale) for x, y in _curve(points)], fill="#8a8a86", width=max(1, round(scale)))
    for left, top, width, height, kind_of_box, lines in picture.boxes():
        corners = [left * scale, top * scale, (left + width) * scale, (top + height) * scale]
        draw.rounded_rectangle(corners, 4 * scale, _FILLS[kind_of_box], "#55554f")
        for number, line in enumerate(lines):
            place = ((left + width / 2) * scale, (top + 8 + 15 * number + 5) * scale)
            draw.text(place, line, "black" if number == 0 else "#55554f", font, anchor="mm")
    files.save_picture(image, path, None if kind else "png")


def _curve(points, steps=16):
    """Return points on Bezier's curve."""
    if len(points) == 2:
        return points
    made = []
    for step in range(steps + 1):
        t = step / steps
        shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3)
        made.append(tuple(sum(share * point[axis] for share, point in zip(shares, points)) for axis in (0, 1)))
    return made


def _shown(path):
    import sys
    kind = os.path.splitext(path)[1][1:].lower() or "png"
    if "IPython" not in sys.modules or kind not in ("png", "jpg", "jpeg", "gif", "webp"):  # which notebooks show
        return None
    from IPython import display
    return display.Image(filename=path, format=kind)
