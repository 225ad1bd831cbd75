"""What composite operators of PyTorch are in terms of other ones, as the rows of its dialect say."""
import builtins
import functools
import operator
import types

from dragon.dialects.aten import table
from dragon.vm.guest import gather
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.aten import decomposed, unrolled
from dragon.vm.torch.core.exporting.listening import aten
from dragon.vm.torch.core.exporting.resolving import resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.tensor import Tensor

# Python's operators, by their names in `ast`: what they are among tensors, and among numbers.
INFIX = {"Add": ("add", operator.add), "Sub": ("sub", operator.sub), "Mult": ("mul", operator.mul),
         "Div": ("div", operator.truediv), "Pow": ("pow", operator.pow), "FloorDiv": ("", operator.floordiv),
         "Mod": ("", operator.mod), "USub": ("neg", operator.neg), "Eq": ("eq", operator.eq),
         "NotEq": ("ne", operator.ne), "Lt": ("lt", operator.lt), "LtE": ("le", operator.le),
         "Gt": ("gt", operator.gt), "GtE": ("ge", operator.ge)}

# The functions that rows call `python`.
PYTHON = types.SimpleNamespace()
gather(vars(PYTHON), decomposed, unrolled)


class Called:
    """An operator in a row: a call takes the overload that fits, and `sum.dim_IntList` is one of them.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.

    """

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
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
    if word in ("torch", "python"):
        return api() if word == "torch" else PYTHON
    # PyTorch has a `range`, too, which nothing is made of.
    return Called(word) if overloads(word) and word != "range" else getattr(builtins, word)


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


def composite_table():
    """Return what PyTorch's dispatcher takes apart for everybody, before any table.

    Returns
    -------
    Dict[OpOverload, Callable]
        By operator: a function of its arguments, which may return NotImplemented.

    """
    return _by_target(_functions(table.COMPOSITE))
