"""What the operators of scripts do: Python for numbers, texts and containers, Dragon's functions for tensors."""
import functools
import math
import operator

from dragon.core.python_operators import ARITHMETIC, BITWISE, COMPARISONS, function_of
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.aten import table
from dragon.vm.torch.core.scripting import codes
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.python_operators import scripts_name
from dragon.vm.torch.core.scripting.failures import Missing
from dragon.vm.torch.core.scripting.schemas import overloads
from dragon.vm.torch.core.scripting.types import (
    ANY, DEVICE, FLOAT, INT, NONE, NOTHING, TENSOR, ListType, TupleType, options_of)

WORDS = ("dtype", "layout", "memory_format")


def plain(value, kind):
    """Return a value of Python as scripts hold it."""
    if kind == DEVICE and isinstance(value, str):
        torch = api()
        return torch.device(value)
    return codes.to_code(value)


def constant(node):
    """Return the value of a constant."""
    return plain(node.attributes["value"], node.outputs_[0].type)


def has_tensor(kind):
    """Return whether a type has tensors in it."""
    return kind == TENSOR or any(map(has_tensor, kind.parts))


def kernel(node):
    """Return the Python function of a step."""
    name = node.kind_
    if name in STEPS:
        return STEPS[name](node)
    space, _, word = name.partition("::")
    schema = node.schema
    if schema is None and space == "prim" and word in PROPERTIES:
        return PROPERTIES[word]
    if schema is None and word in PLAIN:
        return PLAIN[word]
    if schema is None:
        raise Missing(f"script: got the step {name}, which Dragon does not run")
    if schema.plain is not None:
        return write_out(kernel_of(name, schema.plain))
    return kernel_of(name, schema)


def kernel_of(name, schema):
    """Return the Python function of an operator by one of its signatures."""
    word = name.partition("::")[2]
    if is_python(name, schema):
        return typed(PLAIN[word], schema)
    if is_property(name):
        return PROPERTIES[word]
    return tensor_kernel(name, schema)


def write_out(function):
    """Return a function that writes what another one gives into its last argument."""
    def run(*values):
        return deliver(function(*values[:-1]), values[-1])
    return run


def typed(function, schema):
    """Return a function whose result is a number of the declared type."""
    if schema.result == FLOAT:
        return lambda *args: float(function(*args))
    return function


def find_function(name, schema):
    """Return what computes an operator of tensors, or None, and whether it takes all arguments by place."""
    space, _, word = name.partition("::")
    row = table.function_of(word, schema.overload_name) if space == "aten" else None
    return (row, True) if row is not None else (_namesake(name), False)


@functools.lru_cache(None)
def _namesake(name):
    _ops = api()._ops
    space, _, word = name.partition("::")
    try:
        return getattr(_ops.namespace(space), word).op
    except AttributeError:
        whole = _namesake(name[:-1]) if space == "aten" and word.endswith("_") else None
        return whole and functools.partial(write_whole, whole)


def write_whole(function, first, *rest, **named):
    """Write what a function gives of a tensor into it: the operator that ends with `_`."""
    return first.copy_(function(first, *rest, **named))


def tensor_kernel(name, schema):
    """Return a function that calls Dragon's by the signature of an operator."""
    function, by_place = find_function(name, schema)
    if function is None:
        return missing(name)
    arguments = schema.arguments
    coded = {number: argument.name for number, argument in enumerate(arguments) if argument.name in WORDS}
    # PyTorch lets `alpha` stand without its name in `add.Scalar` and its like, Dragon's functions do not.
    count = sum(1 for argument in arguments if not argument.keyword and argument.name != "alpha")
    defaults = [argument.default for argument in arguments]

    def run(*values):
        values = list(values)
        for number, word in coded.items():
            if type(values[number]) is int:
                values[number] = codes.from_code(word, values[number])
        if by_place:
            return function(*values)
        args, kwargs = values[:count], {}
        while len(args) > 1 and is_default(args[-1], defaults[len(args) - 1]):
            args.pop()
        for number in range(count, len(arguments)):
            if not is_default(values[number], defaults[number]):
                kwargs[arguments[number].name] = values[number]
        return function(*args, **kwargs)

    if isinstance(schema.result, TupleType):
        return run
    if type(schema.result) is ListType:
        return lambda *values: list(run(*values))
    if schema.result == INT and schema.name != "aten::item":
        return lambda *values: codes.to_code(run(*values))
    return run


def is_python(name, schema):
    """Return whether Python itself has an operator."""
    space, _, word = name.partition("::")
    return space in ("aten", "prim") and word in PLAIN and not (
        word in SHARED and any(argument.type == TENSOR for argument in schema.arguments))


def is_property(name):
    """Return whether an operator reads a property."""
    space, _, word = name.partition("::")
    return space == "prim" and word in PROPERTIES


def missing(name):
    """Return a function that raises: programs have branches that they never reach."""
    def run(*values):
        raise Missing(f"script: got the operator {name}, which Dragon does not have")
    return run


def is_default(value, default):
    """Return whether an argument may be left out."""
    return value is default or type(value) is type(default) and not hasattr(value, "requires_grad") and value == default


# --- steps of the compiler itself

def make_tuple(node):
    """Return the function of a tuple's making."""
    made = getattr(node.outputs_[0].type, "made", None)
    return (lambda *parts: parts) if made is None else (lambda *parts: made(*parts))


def make_dict(node):
    """Return the function of a dictionary's making."""
    return lambda *parts: dict(zip(parts[::2], parts[1::2]))


def make_object(node):
    """Return the function of an instance's making."""
    kind = node.outputs_[0].type
    if kind.made is not None:
        return lambda: object.__new__(kind.made)
    from dragon.vm.torch.core.scripting.instances import Instance
    return lambda: Instance(kind)


def make_isinstance(node):
    """Return the function of a question for types."""
    from dragon.vm.torch.core.scripting.instances import is_of
    kinds = node.attributes["kinds"]
    return lambda value: any(is_of(value, kind) for kind in kinds)


def unpack_list(node):
    """Return the function of a list's unpacking."""
    count = len(node.outputs_)

    def unpack(values):
        if len(values) != count:
            raise RuntimeError(f"Expected {count} elements in a list but found {len(values)}")
        return values[0] if count == 1 else values
    return unpack


def unpack_tuple(node):
    """Return the function of a tuple's unpacking."""
    return (lambda values: values[0]) if len(node.outputs_) == 1 else (lambda values: values)


def cast_unchecked(node):
    """Return the function of a cast: None where a value is promised is an error."""
    kind = node.outputs_[0].type
    is_open = NONE in options_of(kind) or kind in (ANY, NOTHING)

    def cast(value):
        if value is None and not is_open:
            raise RuntimeError("Unwrapping null optional")
        return value
    return cast


def make_fork(node):
    """Return the function of a fork."""
    from dragon.vm.torch.core.scripting.instances import Future
    return Future


def make_list_of_tensor(node):
    """Return the function of `tolist`, which checks the wanted type."""
    from dragon.vm.torch.core.scripting.instances import is_of
    kind = node.outputs_[0].type

    def tolist(tensor, *_):
        found = tensor.tolist()
        if not is_of(found, kind):
            raise RuntimeError(f"Output annotation element type and runtime tensor element type must match for "
                               f"tolist(): expected {kind.annotation()}")
        return found
    return tolist


def same(value):
    """Return the value."""
    return value


STEPS = {
    "prim::ListConstruct": lambda node: lambda *parts: list(parts), "prim::TupleConstruct": make_tuple,
    "prim::DictConstruct": make_dict, "prim::CreateObject": make_object, "prim::isinstance": make_isinstance,
    "prim::ListUnpack": unpack_list, "prim::TupleUnpack": unpack_tuple, "prim::unchecked_cast": cast_unchecked,
    "prim::Uninitialized": lambda node: lambda: None, "prim::fork": make_fork, "prim::tolist": make_list_of_tensor,
    "prim::TupleIndex": lambda node: operator.getitem, "prim::Print": lambda node: print,
    "prim::EnumName": lambda node: operator.attrgetter("name"),
    "prim::EnumValue": lambda node: operator.attrgetter("value")}
PROPERTIES = {name: operator.attrgetter(name) for name in (
    "is_cuda", "is_cpu", "is_meta", "is_xla", "is_mps", "is_quantized", "is_sparse", "is_nested", "is_mkldnn",
    "requires_grad", "device", "data", "itemsize", "grad", "mT", "H", "mH", "T")}
PROPERTIES.update({
    "dtype": lambda tensor: codes.to_code(tensor.dtype), "layout": lambda tensor: codes.to_code(tensor.layout),
    "shape": lambda tensor: list(tensor.shape), "AutogradZero": lambda: None, "unchecked_cast": same,
    "type": lambda device: device.type, "index": lambda device: device.index, "name": lambda tensor: None})


# --- Python's own

def get_item(owner, key):
    """Return an element."""
    try:
        return owner[key]
    except IndexError:
        raise IndexError("list index out of range") from None
    except KeyError:
        raise KeyError(key) from None


def to_number(kind):
    """Return a conversion to a number, of tensors too."""
    return lambda value, *rest: kind(value.item() if hasattr(value, "item") else value, *rest)


def slice_row(row, start, end, step):
    """Return a slice."""
    return row[start:end:step]


def write_row(row, key, value):
    """Set an element."""
    row[key] = value
    return row


def insert(row, place, value):
    """Insert an element."""
    row.insert(place, value)
    return row


def append(row, value):
    """Append an element."""
    row.append(value)
    return row


def extend(row, values):
    """Append several elements."""
    row.extend(values)
    return row


def add_in_place(row, values):
    """Append several elements."""
    row += values
    return row


def remove(row, value):
    """Remove an element."""
    row.remove(value)


def delete(row, key):
    """Remove an element by its place."""
    del row[key]


def pop(owner, *key):
    """Remove an element and return it."""
    return owner.pop(*key) if not isinstance(owner, dict) or len(key) != 1 else owner.pop(key[0])


def sort(row, *rest):
    """Sort a list in place."""
    row.sort(reverse=bool(rest and rest[-1] is True))


def in_order(row, *rest):
    """Return the elements in order."""
    return sorted(row, reverse=bool(rest and rest[-1] is True))


def divide(one, other):
    """Return a quotient."""
    if other == 0 and isinstance(one, float) | isinstance(other, float) and not isinstance(one, complex):
        return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1.0, other)
    return one / other


def range_length(start, end, step):
    """Return how many numbers a range has."""
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return len(range(start, end, step))


def format_text(text, *values):
    """Return a text with values in it."""
    parts, found = text.split("{}"), ""
    for number, part in enumerate(parts):
        found += part + (show(values[number]) if number < len(parts) - 1 and number < len(values) else
                         "{}" if number < len(parts) - 1 else "")
    return found


def show(value):
    """Return a value as text."""
    return str(value)


def find_index(owner, value, *ends):
    """Return where an element stands."""
    if isinstance(owner, str):
        start, end = (*ends, 0, -1)[:2] if len(ends) < 2 else ends
        return owner.index(value, start, None if end == -1 else end)
    return owner.index(value)


def find_text(name):
    """Return a method of texts whose last argument -1 means the end."""
    def find(text, part, start=0, end=-1):
        return getattr(text, name)(part, start, None if end == -1 else end)
    return find


def split(text, separator=None, most=-1):
    """Return the parts of a text."""
    return text.split(separator, most)


def warn(message, *rest):
    """Warn."""
    from dragon.core import warnings
    warnings.warn(message)


def unwrap(value):
    """Return a value that is not None."""
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


def compare_is(one, other):
    """Return whether two are the same."""
    return one is other


def power(one, other):
    """Return a power; a root of what is negative is no number, as in C."""
    if isinstance(one, complex) or isinstance(other, complex):
        return one ** other
    if one == 0 and other < 0:
        raise RuntimeError(f"{float(one)} cannot be raised to a negative power")
    try:
        return math.pow(one, other) if isinstance(one, float) or isinstance(other, float) else one ** other
    except ValueError:
        return math.nan
    except OverflowError:
        return -math.inf if one < 0 and other % 2 == 1 else math.inf


PLAIN = {
    **{scripts_name(name).removeprefix("aten::"): function_of(name) for name in (
        *ARITHMETIC, *BITWISE, *COMPARISONS, "neg")},
    "add_": add_in_place, "div": divide, "pow": power,
    "__not__": operator.not_, "__is__": compare_is, "__isnot__": lambda one, other: one is not other,
    "__contains__": lambda row, value: value in row, "__getitem__": get_item, "_set_item": write_row,
    "Delete": delete, "len": len, "append": append, "extend": extend, "insert": insert, "remove": remove,
    "pop": pop, "clear": lambda row: row.clear(), "copy": lambda row: row.copy(),
    "reverse": lambda row: row.reverse(), "sort": sort, "sorted": in_order, "count": lambda row, *part: row.count(
        part[0]), "index": find_index, "list": list, "keys": lambda row: list(row.keys()),
    "values": lambda row: list(row.values()), "items": lambda row: list(row.items()),
    "get": lambda row, key, *rest: row.get(key, *rest),
    "setdefault": lambda row, key, value: row.setdefault(key, value),
    "update": lambda row, other: row.update(other), "popitem": lambda row: row.popitem(),
    "dict": lambda *row: dict(*row), "slice": slice_row, "__range_length": range_length,
    "__derive_index": lambda turn, start, step: start + turn * step, "format": format_text,
    "percentFormat": lambda text, *values: text % tuple(values), "str": show, "Int": to_number(int),
    "Float": to_number(float), "Bool": to_number(bool), "IntImplicit": to_number(int),
    "FloatImplicit": to_number(float), "ScalarImplicit": lambda value: value.item(),
    "ComplexImplicit": to_number(complex), "Complex": lambda *parts: complex(*(
        part.item() if hasattr(part, "item") else part for part in parts)), "Scalar": lambda value: value.item(),
    "is_scripting": lambda: True, "min": lambda *parts: min(*parts), "max": lambda *parts: max(*parts),
    "abs": abs, "sum": sum, "all": all, "any": any, "round": lambda *parts: round(*parts),
    "ord": ord, "chr": chr, "hex": hex, "oct": oct, "bin": bin, "hash": hash,
    "divmod": lambda one, other: divmod(one, other), "warn": warn, "_unwrap_optional": unwrap,
    "NumToTensor": lambda value: api().tensor(value), "wait": lambda future: future.wait(),
    "device": lambda text, *rest: plain(text if not rest else f"{text}:{rest[0]}", DEVICE),
    "find": find_text("find"), "rfind": find_text("rfind"), "rindex": find_text("rindex"), "split": split,
    "rsplit": lambda text, separator=None, most=-1: text.rsplit(separator, most), "splitlines": str.splitlines,
    "startswith": find_text("startswith"), "endswith": find_text("endswith"), "strip": lambda text, *rest: text.strip(
        *rest), "lstrip": lambda text, *rest: text.lstrip(*rest), "rstrip": lambda text, *rest: text.rstrip(*rest),
    "replace": str.replace, "join": str.join, "partition": str.partition, "rpartition": str.rpartition,
    "mathremainder": math.remainder, "is_autocast_enabled": lambda: False, "is_autocast_cpu_enabled": lambda: False}
PLAIN.update((name, getattr(str, name)) for name in (
    "lower", "upper", "title", "capitalize", "swapcase", "zfill", "center", "ljust", "rjust", "expandtabs", "isalpha",
    "isdigit", "isspace", "isupper", "islower", "istitle", "isalnum", "isdecimal", "isnumeric", "isidentifier",
    "isprintable"))
PLAIN.update((name, function) for name, function in vars(math).items() if name not in PLAIN and any(
    schema.arguments and not any(has_tensor(argument.type) for argument in schema.arguments)
    for schema in overloads("aten::" + name)))
# Of these there are operators of tensors too.
SHARED = set(PLAIN) - {"__contains__", "__getitem__", "_set_item", "Delete", "append", "Int", "Float", "Bool",
                       "IntImplicit", "FloatImplicit", "ScalarImplicit", "ComplexImplicit", "Complex", "Scalar",
                       "__is__", "__isnot__",
                       "insert", "remove", "pop", "get", "setdefault", "update", "keys", "values", "items", "format",
                       "str", "_unwrap_optional", "wait", "percentFormat", "extend", "len", "dict", "Print", "count"}
