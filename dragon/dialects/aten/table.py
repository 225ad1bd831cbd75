"""The tables of PyTorch's operators, read when first asked for."""
import functools
import pathlib

from dragon.dialects.aten.signature_lines import read_line, spread
from dragon.dialects.aten.signatures import EXPORTS, FOREACH, RANDOM, SCRIPTS, TABLE, signatures
from dragon.dialects.rows import compile_assignments, compile_row, free_names, read_rows, renamed_call

ROOM = pathlib.Path(__file__).parent
COMPUTED = "="  # how an operator is computed here
COMPOSITE = "=>"  # what PyTorch's dispatcher takes it apart into, before anybody sees it
DECOMPOSED = "~>"  # what its table of decompositions takes it apart into
DERIVATIVE = "<-"  # the gradients of its arguments
WRITTEN = "<~"  # what its argument is once a view of it is another tensor
KINDS = ":"  # of what kinds it is
# Rows with these names before the point are of the engine's operators, and of functions of `torch.nn.functional`: what
# they are in PyTorch's operators.
ENGINE, FUNCTIONAL = "dragon", "F"
# What reductions of losses are called in PyTorch's API, by number.
REDUCTIONS = ("none", "mean", "sum")


@functools.cache
def rows():
    """Return all rows.

    Returns
    -------
    Dict[Tuple[str, str], Dict[str, Row]]
        By relation and name, then by overload.

    """
    found = {}
    for path in sorted(ROOM.glob("*.txt")):
        if path in (TABLE, FOREACH):
            continue
        for row in read_rows(path.read_text(encoding="utf-8"), path.name):
            known = found.setdefault((row.relation, row.name), {})
            if row.overload in known:
                raise ValueError(f"{row.place}: got a second row for {row.name}.{row.overload}, which is told in "
                                 f"{known[row.overload].place}")
            known[row.overload] = row
    return found


@functools.cache
def overloads(name):
    """Return the signatures of an operator in parts.

    Parameters
    ----------
    name : str
        Without its namespace.

    Returns
    -------
    Dict[str, Line]
        By overload, "default" for the one without a name; in the order in which PyTorch tries them.

    """
    texts = signatures(SCRIPTS + EXPORTS).get(f"aten::{name}", ())
    return {line.overload or "default": line for line in map(read_line, texts)}


def row_of(name, overload, relation=COMPUTED):
    """Return the row of an overload, or None.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.
    overload : str
        The overload's, "default" for the one without a name.
    relation : str, optional
        `COMPUTED`, `COMPOSITE` or `DECOMPOSED`.

    Returns
    -------
    Optional[Row]
        The overload's own, or the operator's where it reads no arguments but those that the overload has.

    """
    known, line = rows().get((relation, name), {}), overloads(name).get(overload)
    if overload in known or "" not in known or line is None:
        return known.get(overload) if line is not None else None
    read = free_names(known[""]) & _arguments(name)
    return known[""] if read <= {part.name for part in line.arguments} else None


@functools.cache
def _arguments(name):
    """Return the names that arguments have in any overload."""
    return {part.name for line in overloads(name).values() for part in line.arguments}


def function_of(name, overload, resolve, relation=COMPUTED, infix=None, more=()):
    """Return the function that the table has for an overload, or None.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.
    overload : str
        The overload's, "default" for the one without a name.
    resolve : Callable[[str], Any]
        Returns what a name in a row stands for.
    relation : str, optional
        `COMPUTED`, `COMPOSITE` or `DECOMPOSED`.
    infix : Callable, optional
        What is called in place of Python's operators.
    more : Sequence[str], optional
        Arguments that the function takes besides, None by default.

    Returns
    -------
    Optional[Callable]
        A function of the overload's arguments, all of which may be given by place.

    """
    row = row_of(name, overload, relation)
    if row is None:
        return None
    arguments = [(part.name, part.has_default, spread(part.default, part.type))
                 for part in overloads(name)[overload].arguments]
    arguments += [(word, True, None) for word in more]
    return compile_row(row, arguments, lambda word: REDUCTIONS if word == "REDUCTIONS" else resolve(word), infix)


# What rows of derivatives read besides arguments.
GRADIENT_WORDS = ("grad", "grads", "form", "wanted", "result", "result1", "result2")


def derivatives_of(name, overload, resolve, infix):
    """Return what the table has for the gradients of an overload's arguments, or None.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.
    overload : str
        The overload's, "default" for the one without a name.
    resolve : Callable[[str], Any]
        Returns what a name in a row stands for.
    infix : Callable
        What is called in place of Python's operators.

    Returns
    -------
    Optional[List[Assignment]]
        By arguments, computed of a mapping of arguments and `GRADIENT_WORDS`.

    """
    row = rows().get((DERIVATIVE, name), {}).get("" if overload == "default" else overload)
    if row is None:
        return None
    arguments = {part.name for part in overloads(name)[overload].arguments}
    return compile_assignments(row, resolve, arguments.union(GRADIENT_WORDS), infix)


def engine_row(operator):
    """Return the row of an operator of the engine, or None.

    Parameters
    ----------
    operator : str
        The engine's name.

    Returns
    -------
    Optional[Row]
        What it is in PyTorch's operators.

    """
    return rows().get((COMPOSITE, ENGINE), {}).get(operator)


def functional_rows():
    """Return the rows of functions of `torch.nn.functional`.

    Returns
    -------
    Dict[str, Row]
        By the function's name.

    """
    return rows()[COMPOSITE, FUNCTIONAL]


@functools.cache
def renamings():
    """Return the operators of the engine that are one of PyTorch's by another name: rows that can be read backwards.

    Returns
    -------
    Dict[str, Tuple[str, str, Tuple[str, ...], Dict[str, str]]]
        By the engine's name: PyTorch's name and overload, the arguments that the engine's operator is given by place,
        and {the engine's name of an argument: PyTorch's} of those by name.

    """
    found = {}
    for relation, name in rows():
        for overload, line in overloads(name).items() if relation == COMPUTED else ():
            row = row_of(name, overload)
            call = renamed_call(row) if row is not None else None
            if call is not None and "." not in call[0]:
                given = {*call[1], *call[2].values()}
                if all(part.has_default or part.name in given for part in line.arguments):
                    found.setdefault(call[0], (name, overload, *call[1:]))
    return found


@functools.cache
def factories():
    """Return the operators that make tensors by options (dtype, device, ...).

    Returns
    -------
    Dict[str, bool]
        By name: whether it takes a tensor whose options are the defaults.

    """
    found = {}
    for name in signatures(EXPORTS):
        short = name.removeprefix("aten::")
        lines = overloads(short).values()
        if all({"dtype", "pin_memory"} <= {part.name for part in line.arguments} for line in lines):
            found[short] = any(line.arguments[0].name == "self" for line in lines)
    return found


@functools.cache
def random_operators():
    """Return the operators that draw random numbers.

    Returns
    -------
    Dict[str, bool]
        By name: whether it takes a generator.

    """
    names = [name.removeprefix("aten::") for name in signatures(RANDOM)]
    return {name: any(part.type.startswith("Generator") for line in overloads(name).values() for part in line.arguments)
            for name in names}
