"""Of what kind an operator is: its table tells, the engine's schema, or the operators that it is made of."""
import functools
from concurrent.futures import ThreadPoolExecutor

from dragon import _C
from dragon.dialects.aten import table
from dragon.dialects.rows import called_names, renamed_call
from dragon.vm.torch._api import ROWS
from dragon.vm.torch.core.tensor import ops

POINTWISE, IDENTITY, ADDITIVE, SCALING = "pointwise", "identity", "additive", "scaling"
CONSTANT, RANDOM = "constant", "random"
REDUCTION, SUM, AVERAGE, PRODUCT = "reduction", "sum", "average", "product"
MAXIMUM, MINIMUM = "maximum", "minimum"
ALONG, PARTS, MOVED, COMPARISON = "along", "parts", "moved", "comparison"
LOSS, WINDOW = "loss", "window"
LOSS_GRADIENT, WINDOW_GRADIENT = "loss_gradient", "window_gradient"
# What follows from a kind.
_IMPLIED = {IDENTITY: {IDENTITY, ADDITIVE}}
_RELATIONS = (table.COMPUTED, table.COMPOSITE, table.DECOMPOSED)
# Operators of the engine by the name in PyTorch's API.
_NAMES = frozenset(_C.op_names())
_ENGINE = {**{name: name for name in _NAMES}, **{row.name: row.operator for row in ROWS if row.operator in _NAMES}}
_ENGINE.update((f"special_{row.name}", row.operator) for row in ROWS
               if "special" in row.places and row.operator in _NAMES)


@functools.cache
def kinds_of(name):
    """Return the kinds of a function of PyTorch's API, or of an operator.

    Parameters
    ----------
    name : str
        Without a namespace or an overload; with the mark of writing in place or without.

    Returns
    -------
    FrozenSet[str]
        Empty where nothing is known.

    """
    return frozenset(_kinds(_unwritten(name), ()))


def _unwritten(name):
    """Return a name without the mark of writing in place."""
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def _kinds(name, within):
    engine = _ENGINE.get(name)
    told = table.rows().get((table.KINDS, name)) or table.rows().get((table.KINDS, engine))
    if told is not None:
        found = set(told[""].text.split())
        return found.union(*(_IMPLIED.get(kind, ()) for kind in found))
    if engine is not None and _C.schema(engine)["pointwise"]:
        return {POINTWISE, RANDOM} if _draws(engine) else {POINTWISE}
    found = set()
    for row in _rows(name) if name not in within else ():
        called = [_plain(word) for word in called_names(row)]
        inner = [_kinds(word, (*within, name)) for word in called]
        if len(inner) == 1 and renamed_call(row) is not None:
            found |= inner[0]
        elif inner and all(POINTWISE in kinds for kinds in inner):
            found.add(POINTWISE)
    return found


def synonyms(name):
    """Return the names of the functions that the engine computes by the same operator, in place if this one is."""
    bare = _unwritten(name)
    engine = _ENGINE.get(bare)
    found = {bare, *(one for one, operator in _ENGINE.items() if operator == engine)}
    return {one + name[len(bare):] for one in found}


def _draws(engine):
    """Return whether an operator of the engine draws random numbers."""
    return any(argument["name"] == "generator" for argument in _C.schema(engine)["arguments"])


def _rows(name):
    """Return the rows of an operator, none where one of its overloads for tensors has no row."""
    found = []
    for overload, line in table.overloads(name).items():
        rows = [row for relation in _RELATIONS for row in [table.row_of(name, overload, relation)] if row is not None]
        if not rows and any(part.type.startswith("Tensor") for part in line.arguments):
            return []
        found += rows
    return found


def _plain(word):
    """Return the name of a function that a row calls, without the module or the tensor that it is of."""
    head, _, rest = word.rpartition(".")
    return rest if head in ("", "F", "torch", "self") else word


def is_pointwise(name):
    """Return whether each element of the result follows from those at its place."""
    return POINTWISE in kinds_of(name)


@functools.cache
def has_history(name):
    """Return whether what an operator gives may have a gradient: a comparison, or an index, has none."""
    if name == "detach" or name in table.factories() and ADDITIVE not in kinds_of(name):
        return False
    return name not in _ENGINE or _C.schema(_ENGINE[name])["differentiable"]


@functools.cache
def keeps_zero(name):
    """Return whether a function of one tensor is pointwise, and 0 at 0: it is asked.

    Parameters
    ----------
    name : str
        The function's, in PyTorch's API.

    Returns
    -------
    bool
        False for functions with further arguments.

    """
    name, kinds = _unwritten(name), kinds_of(name)
    if POINTWISE not in kinds or kinds & {CONSTANT, RANDOM} or not _is_of_one(name):
        return False
    if kinds & {ADDITIVE, IDENTITY}:
        return True
    if name not in _ENGINE:
        return False
    # In a thread of its own: no trace, mode or autocast of the caller's is told of the call.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_is_zero_at_zero, getattr(ops, _ENGINE[name])).result()


def _is_zero_at_zero(function):
    try:
        return not function(ops.zeros((1,), dtype="float32", device="cpu")).any().item()
    except (NotImplementedError, ValueError):  # of integers alone, or with arguments that it cannot do without
        return False


def _is_of_one(name):
    """Return whether a function takes one tensor, need take nothing else, and gives one."""
    if name not in _ENGINE:
        return any(sum(not part.has_default for part in line.arguments) == 1 for line in table.overloads(name).values())
    schema = _C.schema(_ENGINE[name])
    return sum(not argument["has_default"] for argument in schema["arguments"]) == len(schema["returns"]) == 1
