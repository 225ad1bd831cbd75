"""The table of TensorFlow's operators, read when first asked for."""
import ast
import functools
import pathlib

from dragon.dialects.rows import compile_row, free_names, nodes_of, read_rows
from dragon.dialects.tensorflow.signatures import REQUIRED, TABLE, lines, parts_of

ROOM = pathlib.Path(__file__).parent
ONNX = "onnx.txt"  # the rows of the other direction
NODE = "node"  # the argument that a row's function has before the operator's inputs
# What rows read integers, text, dtypes and sizes with: of inputs as they come.
RAW = frozenset(("number", "numbers", "text", "dtype_of", "shape_of"))


@functools.cache
def rows():
    """Return all rows.

    Returns
    -------
    Dict[str, Row]
        By TensorFlow's name of an operator.

    """
    return _by_name((row.name, row) for path in sorted(ROOM.glob("*.txt")) if path.name not in (TABLE.name, ONNX)
                    for row in read_rows(path.read_text(encoding="utf-8"), path.name))


@functools.cache
def onnx_rows():
    """Return the rows that tell what nodes of ONNX are in TensorFlow's.

    Returns
    -------
    Dict[str, Row]
        By ONNX's name of an operator.

    """
    return _by_name((row.overload, row) for row in read_rows((ROOM / ONNX).read_text(encoding="utf-8"), ONNX))


def _by_name(pairs):
    found = {}
    for name, row in pairs:
        if name in found:
            raise ValueError(f"{row.place}: got a second row for {name}, which is told in {found[name].place}")
        found[name] = row
    return found


def function_of(name, resolve):
    """Return the function that the table has for an operator, or None.

    Parameters
    ----------
    name : str
        TensorFlow's name.
    resolve : Callable[[str], Any]
        Returns what a name in a row stands for; "tensor", "dtype_of" and "as_dtype" among them.

    Returns
    -------
    Optional[Callable]
        A function of a node and its operands.

    """
    row = rows().get(name)
    if row is None:
        return None
    line = lines()[name]
    parts = parts_of(line)
    inputs = [part for part in parts if part.is_input]
    before = "; ".join(_reads(parts, free_names(row), _raw_names(row)))
    function = compile_row(row._replace(text=f"{before}; {row.text}" if before else row.text),
                           [(NODE, False, None), *((part.name, False, None) for part in inputs)],
                           lambda word: resolve(word.removeprefix("_")))
    if any(part.kind == "*" for part in inputs):
        function = _of_lists(function, inputs)
    return _giving(tuple if len(line.results) > 1 else list if line.is_list else None, function)


def _raw_names(row):
    """Return the names that an expression reads within functions of `RAW` alone."""
    nodes = list(nodes_of(row))
    within = {id(argument) for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
              and node.func.id in RAW for argument in node.args}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return {node.id for node in names if id(node) in within} - {node.id for node in names if id(node) not in within}


def _reads(parts, read, raw):
    """Yield what stands before an expression: its attributes, and its inputs as tensors."""
    told = {}
    for part in parts:
        if part.is_input and part.dtype:
            told.setdefault(part.dtype, f"{part.name}[0]" if part.kind == "*" else part.name)
    for attribute, source in told.items():
        if attribute in read:
            yield f"{attribute} = _dtype_of({source})"
    for part in parts:
        if part.name not in read or part.is_input and part.name in raw:
            continue
        if not part.is_input:
            default = "" if part.default is REQUIRED else (
                f", _as_dtype({part.default!r})" if part.kind == "@" else f", {part.default!r}")
            yield f"{part.name} = {NODE}.get({part.attribute!r}{default})"
        elif part.kind == "*":
            yield f"{part.name} = [_tensor(one) for one in {part.name}]"
        else:
            yield f"{part.name} = _tensor({part.name})"


def _of_lists(function, inputs):
    """Return a function of operands in a row for one of lists, which are of one length where there are several."""
    lists = sum(part.kind == "*" for part in inputs)

    def run(node, *operands):
        length, left = divmod(len(operands) - len(inputs) + lists, lists)
        if left or length < 0:
            raise TypeError(f"got {len(operands)} operands, expected {[part.name for part in inputs]}")
        given, place = [], 0
        for part in inputs:
            if part.kind == "*":
                given.append(operands[place:place + length])
                place += length
            else:
                given.append(operands[place])
                place += 1
        return function(node, *given)
    return run


def _giving(kind, function):
    return function if kind is None else lambda node, *operands: kind(function(node, *operands))
