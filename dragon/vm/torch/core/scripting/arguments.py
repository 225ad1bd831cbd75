"""Calls of operators of tensors with what is known of their arguments before a script runs."""
from dragon.vm.torch.core.scripting import codes, kernels
from dragon.vm.torch.core.scripting.types import INT, TENSOR, ListType


class Known:
    """An argument that is the same at every call."""

    def __init__(self, value):
        self.value = value


def known_argument(value, uses):
    """Return a constant, or a list of them, as an argument that is known; None for what a call decides.

    A list that something else uses as well may be written to.
    """
    node = value.node
    if node is None:
        return None
    if node.kind_ == "prim::Constant":
        return Known(kernels.constant(node))
    if node.kind_ == "prim::ListConstruct" and uses[id(value)] == 1 and all(
            part.node is not None and part.node.kind_ == "prim::Constant" for part in node.inputs_):
        return Known([kernels.constant(part.node) for part in node.inputs_])
    return None


def direct(node, uses):
    """Return (function, positional arguments, named ones, function of the result) of an operator of tensors, or None.

    Arguments are numbers of inputs, or `Known`: types come as objects, and defaults that are given are left out.
    None is for operators whose arguments only a call can sort out. `uses` counts the uses of values.
    """
    schema, name = node.schema, node.kind_
    if schema is None or name in kernels.STEPS:
        return None
    if kernels.is_property(name) or kernels.is_python(name, schema):
        return None
    function, by_place = kernels.find_function(name, schema)
    if function is None or len(node.inputs_) != len(schema.arguments):
        return None
    parts = []
    for number, (value, argument) in enumerate(zip(node.inputs_, schema.arguments)):
        known = known_argument(value, uses)
        is_open = argument.has_default and not by_place and value.type != TENSOR  # it may be its default
        if known is None and (argument.name in kernels.WORDS or is_open):
            return None
        if known is not None and argument.name in kernels.WORDS and type(known.value) is int:
            known = Known(codes.from_code(argument.name, known.value))
        parts.append(number if known is None else known)
    shape = shape_of_result(schema)
    if by_place:
        return function, parts, {}, shape
    count = sum(1 for argument in schema.arguments if not argument.keyword)
    args, named = parts[:count], {}
    while len(args) > 1 and is_left_out(args[-1], schema.arguments[len(args) - 1]):
        args.pop()
    for part, argument in zip(parts[count:], schema.arguments[count:]):
        if not is_left_out(part, argument):
            named[argument.name] = part
    return (function, args, named, shape) if not any(isinstance(part, int) for part in named.values()) else None


def is_left_out(part, argument):
    """Return whether an argument is known to be its default."""
    return isinstance(part, Known) and kernels.is_default(part.value, argument.default)


NUMBERED = {"aten::dim", "aten::size", "aten::numel", "aten::len", "aten::stride", "aten::storage_offset", "aten::item"}


def shape_of_result(schema):
    """Return the function that makes of Dragon's result what scripts have, or None if it is that."""
    if type(schema.result) is ListType:
        return list
    return codes.to_code if schema.result == INT and schema.name not in NUMBERED else None
