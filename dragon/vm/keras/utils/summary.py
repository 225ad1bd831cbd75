"""`model.summary()`: a table of layers, the shapes of their outputs, and how many numbers their weights have."""
import math
import re
import shutil
import sys

from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.messages import is_interactive_logging_enabled, print_msg
from dragon.vm.keras.core.text_table import Styled, draw_table

NUMBER, NOTHING, SYMBOL, NO = 34, 45, 33, 9  # colours of a terminal
BITS = {"bool": 1, "bfloat16": 16, "complex64": 64, "complex128": 128, "float8_e4m3fn": 8, "float8_e5m2": 8}


def count_params(weights):
    """Return how many numbers variables have."""
    return int(sum(math.prod(tuple(weight.shape)) for weight in weights))


def weight_memory_size(weights):
    """Return how many bytes variables have."""
    total = 0
    for weight in {id(weight): weight for weight in weights}.values():
        dtype = standardize_dtype(weight.dtype)
        bits = BITS.get(dtype) or int(re.sub(r"\D", "", dtype))
        total += math.prod(tuple(weight.shape)) * bits
    return total / 8


def readable_memory_size(size):
    """Return a number of bytes in a unit that suits it."""
    units = ["B", "KB", "MB", "GB", "TB", "PB"]
    for unit in units:
        if size / 1024 < 1:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} {units[-1]}"


def _number(x):
    return str(x), NOTHING if x is None else NUMBER


def _shape_pieces(shape):
    pieces = []
    for size in shape:
        pieces += [", " if pieces else "(", _number(size)]
    return [*(pieces or ["("]), ")"]


def _structure_pieces(structure):
    """Return a structure of shapes as it would be printed."""
    if isinstance(structure, dict):
        inner = [[f"{key}: ", *_structure_pieces(value)] for key, value in structure.items()]
        ends = "{}"
    elif all(size is None or isinstance(size, int) for size in structure):
        return _shape_pieces(structure)
    else:
        inner, ends = [_structure_pieces(value) for value in structure], "[]" if isinstance(structure, list) else "()"
    pieces = [ends[0]]
    for number, part in enumerate(inner):
        pieces += [", ", *part] if number else part
    return [*pieces, ends[1]]


def format_layer_shape(layer):
    """Return the shapes of a layer's outputs, or a question mark."""
    if layer._inbound_nodes:
        shapes = [x.shape for x in layer._inbound_nodes[-1].output_tensors]
    elif not getattr(layer, "_build_shapes_dict", None):
        return Styled("?")
    else:
        try:
            if hasattr(layer, "output_shape"):
                shapes = layer.output_shape
            else:
                shapes = tree.map_shape_structure(
                    lambda shape: shape, layer.compute_output_shape(**layer._build_shapes_dict))
        except NotImplementedError:
            return Styled("?")
    if isinstance(shapes, list) and len(shapes) == 1:
        shapes = shapes[0]
    return Styled(*_structure_pieces(shapes))


def _is_list_like(model, layers):
    """Tell whether every layer of a graph is called once, with what the one before returned."""
    nodes = []
    for level in model._nodes_by_depth.values():
        if len(level) > 1 or len(level) == 1 and len(level[0].input_tensors) > 1:
            return False
        nodes += level
    return all(sum(node in nodes for node in layer._inbound_nodes) <= 1 for layer in layers)


def _connections(layer, nodes):
    pieces = []
    for node in layer._inbound_nodes:
        for x in node.input_tensors if node in nodes else ():
            operation, index, number = x._keras_history
            pieces += [(", " if pieces else "") + f"{operation.name}[", _number(index), "][", _number(number), "]"]
    return Styled(*(pieces or ["-"]))


def _fields(layer, prefix, nodes, show_trainable):
    name = Styled(f"{prefix}{layer.name} (", (type(layer).__name__, SYMBOL), ")")
    if not hasattr(layer, "built"):
        params = Styled(_number(0))
    elif not layer.built:
        params = Styled(_number(0), " (unbuilt)")
    else:
        params = Styled(_number(f"{layer.count_params():,}"))
    fields = [name, format_layer_shape(layer), params]
    if nodes is not None:
        fields.append(_connections(layer, nodes))
    if show_trainable:
        if getattr(layer, "weights", None):
            fields.append(Styled(("Y", ("bold", NUMBER)) if layer.trainable else ("N", ("bold", NO))))
        else:
            fields.append(Styled(("-", "bold")))
    return fields


def _rows(layer, nodes, expand_nested, show_trainable, level=0):
    rows = [_fields(layer, "   " * level + "└ " if level else "", nodes, show_trainable)]
    if expand_nested:
        for inner in getattr(layer, "layers", None) or ():
            rows += _rows(inner, nodes, True, show_trainable, level + 1)
    return rows


def _totals(model):
    """Return the lines below the table."""
    trainable = getattr(model, "_collected_trainable_weights", model.trainable_weights)
    parts = [("Trainable", trainable), ("Non-trainable", model.non_trainable_weights)]
    optimizer = getattr(model, "optimizer", None) if model.compiled else None
    if optimizer is not None and optimizer.built:
        parts.append(("Optimizer", optimizer.variables))
    sums = [(word, count_params(weights), weight_memory_size(weights)) for word, weights in parts]
    sums.insert(0, ("Total", sum(count for _, count, _ in sums), sum(size for _, _, size in sums)))
    return [Styled((f" {word} params: ", "bold"), _number(f"{count:,}"), f" ({readable_memory_size(size)})")
            for word, count, size in sums]


def _find_range(layers, layer_range):
    """Return the places of the first layer to show, and behind the last one."""
    if layer_range is None:
        return 0, len(layers)
    if len(layer_range) != 2:
        raise ValueError("layer_range must be a list or tuple of length 2. Received: "
                         f"layer_range = {layer_range} of length {len(layer_range)}")
    if not all(isinstance(name, str) for name in layer_range):
        raise ValueError(f"layer_range should contain string type only. Received: {layer_range}")
    lower, upper = ([number for number, layer in enumerate(layers) if re.match(pattern, layer.name)]
                    for pattern in layer_range)
    if not lower or not upper:
        raise ValueError("Passed layer_names do not match the layer names in the model. "
                         f"Received: {layer_range}")
    if min(lower) > max(upper):
        return min(upper), max(lower) + 1
    return min(lower), max(upper) + 1


def print_summary(model, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                  layer_range=None):
    """Print a table of a model's layers.

    Parameters
    ----------
    expand_nested : bool, optional, default=False
        Whether the layers of inner models are shown.

    """
    if print_fn is None and not is_interactive_logging_enabled():
        print_fn = print_msg
    is_graph = hasattr(model, "_nodes_by_depth")
    layers = model._operations if is_graph else model.layers
    nodes = None
    header, alignment = ["Layer (type)", "Output Shape", "Param #"], ["left", "left", "right"]
    length, places = 88, positions or [0.45, 0.80, 1.0]
    if is_graph and not _is_list_like(model, model.layers):
        nodes = {node for level in model._nodes_by_depth.values() for node in level}
        header, alignment = [*header, "Connected to"], [*alignment, "left"]
        length, places = 108, positions or [0.3, 0.56, 0.74, 1.0]
    if show_trainable:
        header, alignment = [*header, "Trainable"], [*alignment, "center"]
        length, places = length + 12, [place * 0.90 for place in places] + [1.0]
    columns = shutil.get_terminal_size().columns
    line_length = line_length or min(length, columns - 4)
    widths = []
    for place in places:
        widths.append(int(place * line_length) - sum(widths))
        if widths[-1] < 4:
            raise ValueError(f"Insufficient console width to print summary. Received: line_length={line_length}")
    first, last = _find_range(layers, layer_range)
    rows = [row for layer in layers[first:last] for row in _rows(layer, nodes, expand_nested, show_trainable)]
    lines = [Styled((f'Model: "{model.name}"', "bold")), *draw_table(header, rows, widths, alignment, line_length),
             *_totals(model)]
    is_colored = print_fn is None and sys.stdout.isatty()
    text = "".join(line.cut(0, columns).render(is_colored) + "\n" for line in lines)
    if print_fn is None:
        print(text, end="")
    elif print_fn is print_msg:
        print_fn(text, line_break=False)
    else:
        print_fn(text)
