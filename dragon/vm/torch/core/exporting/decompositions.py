"""What composite operators of PyTorch are in terms of other ones, as the rows of its dialect say."""
import builtins
import functools
import inspect
import types

from dragon import _C
from dragon.core import python_operators
from dragon.dialects.aten import table
from dragon.dialects.rows import compile_row
from dragon.vm.guest import gather
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.aten import decomposed, functional, unrolled
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.overload_resolution import resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.python_operators import ATEN
from dragon.vm.torch.core.tensor import Tensor

# Python's operators, by their names in `ast`: what they are among tensors, and among numbers.
INFIX = {python_operators.OPERATORS[name].node: (ATEN[name], python_operators.function_of(name))
         for name in (*python_operators.ARITHMETIC, "neg", *python_operators.COMPARISONS)}

# The functions that rows call `python`.
PYTHON = types.SimpleNamespace()
gather(vars(PYTHON), decomposed, functional, unrolled)


class Called:
    """An operator in a row: a call takes the overload that fits, and `sum.dim_IntList` is one of them.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.

    """

    def __init__(self, name):
        self.name = name

    def __call__(self, /, *args, **kwargs):
        overload, args, kwargs = resolve(self.name, args, kwargs)
        return getattr(self, overload)(*args, **kwargs)

    def __getattr__(self, overload):
        return getattr(getattr(aten(), self.name), overload)


def compute_infix(name, *operands):
    """Return what an operator of Python's gives, which is PyTorch's where an operand is a tensor."""
    among_tensors, among_numbers = INFIX[name]
    if any(isinstance(operand, Tensor) for operand in operands):
        return Called(among_tensors)(*operands)
    return among_numbers(*operands)


def _resolve(word):
    if word in ("torch", "python", "aten"):
        return {"torch": api, "python": lambda: PYTHON, "aten": aten}[word]()
    # PyTorch has a `range`, too, which nothing is made of.
    return Called(word) if overloads(word) and word != "range" else getattr(builtins, word)


@functools.cache
def lowering_of(engine):
    """Return what an operator of the engine is in PyTorch's, as its row says, or one of PyTorch's read backwards.

    Parameters
    ----------
    engine : str
        The engine's name.

    Returns
    -------
    Optional[Callable]
        A function of the engine's arguments by name, which may return NotImplemented.

    """
    arguments = [(item["name"], item["has_default"], item["default"]) for item in _C.schema(engine)["arguments"]]
    row = table.engine_row(engine)
    if row is not None:
        return compile_row(row, arguments, _resolve, compute_infix)
    if engine not in table.renamings() or overloads(engine):  # what has its name comes first
        return None
    name, overload, places, named = table.renamings()[engine]
    names = {**dict(zip([item for item, _, _ in arguments], places)), **named}  # PyTorch's, by the engine's
    rest = {item: default for item, _, default in arguments if item not in names}

    def lower(**given):
        if any(given[item] != default for item, default in rest.items()):
            return NotImplemented
        return getattr(Called(name), overload)(**{other: given[item] for item, other in names.items()})
    return lower


@functools.cache
def operators_of(name):
    """Return what a function of `torch.nn.functional` is in PyTorch's operators, as its row says.

    Parameters
    ----------
    name : str
        The function's.

    Returns
    -------
    Callable
        A function of the same arguments.

    """
    parameters = inspect.signature(getattr(api().nn.functional, name)).parameters.values()
    arguments = [(item.name, item.default is not item.empty, item.default) for item in parameters
                 if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    return compile_row(table.functional_rows()[name], arguments, _resolve, compute_infix)


@functools.cache
def _functions(*relations):
    """Return {"name.overload": function} of the rows with these relations, the first of which counts."""
    found = {}
    for relation, name in table.rows():
        if relation in relations:
            for overload in table.overloads(name):
                key = f"{name}.{overload}"
                if key not in found or relation == relations[0]:
                    made = table.function_of(name, overload, _resolve, relation, compute_infix)
                    if made is not None:
                        found[key] = made
    return found


def _by_target(functions):
    made = {}
    for key, function in functions.items():
        name, _, overload = key.partition(".")
        if overload in overloads(name):
            made[getattr(getattr(aten(), name), overload)] = function
    return made


def default_table():
    """Return what PyTorch's table of decompositions takes apart.

    Returns
    -------
    Dict[OpOverload, Callable]
        By operator: a function of its arguments, which may return NotImplemented.

    """
    return _by_target(_functions(table.DECOMPOSED, table.COMPOSITE))


@functools.cache
def composite_table():
    """Return what PyTorch's dispatcher takes apart for everybody, before any table.

    Returns
    -------
    Dict[OpOverload, Callable]
        By operator: a function of its arguments, which may return NotImplemented.

    """
    return _by_target(_functions(table.COMPOSITE))


@functools.cache
def rewriting_of(name, overload):
    """Return what a tensor is once a view of it is another tensor, by the operator that made the view.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.
    overload : str
        The overload's.

    Returns
    -------
    Optional[Callable]
        A function of the operator's arguments, of `new`, which is in the view's place, and of `place` among several.

    """
    return table.function_of(name, overload, _resolve, table.WRITTEN, compute_infix, ("new", "place"))
