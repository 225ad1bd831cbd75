"""Kinds of arguments and results of the engine's operators, as their schemas say them."""
import re
import sys

from stubs.kinds import ANY, BUILTIN, NONE, Kind, union
from stubs.places import door_of

# The class of each door's tensors, dtypes and devices.
FACES = {"torch": ("dragon.vm.torch", "Tensor", "dtype", "device"), "dragon": ("dragon", "Tensor", "dtype", "Device")}
ARGUMENT = re.compile(r"([\w\[\]?!]+) (\w+)")
NUMBER = BUILTIN["complex"]  # which, to a type checker, takes int, float and bool as well
PLAIN = {"int": BUILTIN["int"], "float": BUILTIN["float"], "bool": BUILTIN["bool"], "str": BUILTIN["str"]}


def face(module):
    """Return the classes of the tensors, dtypes and devices that a module's operators speak of; None where none do."""
    place = FACES.get(door_of(module))
    return place and [getattr(sys.modules[place[0]], name) for name in place[1:]]


def operators(module):
    """Return the operators of a module's face, plain ones that fall back on nothing."""
    place = "dragon.tensor" if door_of(module) == "dragon" else f"dragon.vm.{door_of(module)}.core.tensor"
    return sys.modules[place].ops


def named_results(module):
    """Return {operator: named tuple} of a module's face."""
    return sys.modules["dragon.vm.torch.core.results"].OF_OPERATORS if door_of(module) == "torch" else {}


def is_operator(value):
    """Return whether a value is an operator of the engine."""
    return type(value).__name__ == "Op" and type(value).__module__ == "dragon._C"


def line_of(value):
    """Return an operator's line in its face's words, `permute(Tensor input, int[] dims) -> Tensor`; None if none."""
    text = repr(value)
    if not text.startswith("<operator ") or " -> " not in text:
        return None
    return text[len("<operator "):-1].removesuffix(" in place")


def read_line(line, module, result_class=None):
    """Return ({argument: kind}, the result's kind) of a schema's line.

    Parameters
    ----------
    line : str
        Such as `sum(Tensor x, int[1]? axis=None) -> Tensor`.
    module : str
        In whose face.
    result_class : type, optional
        The named tuple of several results.

    """
    told, _, results = line.partition(" -> ")
    told = told.partition("(")[2]
    arguments = {}
    for kind, name in ARGUMENT.findall(told):
        arguments[name] = read_argument(kind, module, first=not arguments)
    return arguments, read_results(results.strip(), module, result_class)


def loose_arguments(line):
    """Return the names of a schema's arguments that are lists of integers of any length."""
    return [name for kind, name in ARGUMENT.findall(line.partition("(")[2]) if kind.rstrip("?") == "int[]"]


def read_argument(word, module, first):
    """Return the kind of an argument; a tensor after the first may be a number."""
    tensor, dtype, device = map(Kind, face(module))
    base = word.strip("?!").replace("?[]", "[]").replace("!", "")
    if base.endswith("]"):
        item = {"Tensor": tensor, **PLAIN}.get(base.partition("[")[0], ANY)
        kind = Kind("Sequence", (item,))
        if base.startswith("int"):
            kind = union(BUILTIN["int"], kind)
    elif base == "Tensor":
        kind = tensor if first else union(tensor, NUMBER)
    elif base == "Scalar":
        kind = union(NUMBER, tensor)
    elif base == "dtype":
        kind = dtype if door_of(module) == "torch" else union(dtype, BUILTIN["str"], BUILTIN["type"])
    elif base == "device":
        kind = union(device, BUILTIN["str"], BUILTIN["int"])
    else:
        kind = PLAIN.get(base, ANY)
    return union(kind, NONE) if word.endswith("?") and kind != ANY else kind


def read_results(text, module, result_class):
    """Return the kind of results."""
    tensor = Kind(face(module)[0])
    if text == "()":
        return NONE
    if text == "Tensor":
        return tensor
    if text.endswith("[]"):
        return Kind("Tuple...", (tensor,))
    if result_class is not None:
        return Kind(result_class)
    return Kind("Tuple", (tensor,) * text.count("Tensor "))
