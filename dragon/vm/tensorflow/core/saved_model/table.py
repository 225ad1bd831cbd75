"""What each of TensorFlow's operators is here: its row, or a function of a node and its operands."""
import builtins
import functools
import sys

from dragon.dialects.tensorflow import signatures, table
from dragon.vm.tensorflow.core.saved_model import values

FUNCTIONS = {}  # operators that have no row
FRONT = __name__.partition(".core.")[0]  # the API's module, which stands above this one
ROW_FUNCTIONS = {}  # functions that rows call


class Operator:
    """An operator of TensorFlow.

    Parameters
    ----------
    run : Callable
        Called with the node and the operands; returns the result, a list for a result of many tensors, or for
        several results a tuple.
    results : Sequence[str], optional
        The names of the results where there are several; of operators of `tf.raw_ops`, their lines have them.

    """

    __slots__ = ("run", "results")

    def __init__(self, run, results=()):
        self.run, self.results = run, results


def operator(names, results=""):
    """Return a decorator: the function takes the node and its operands as they are.

    Parameters
    ----------
    names : str
        TensorFlow's names, with blanks between.
    results : str, optional
        The names of the results where there are several, of an operator that `tf.raw_ops` has not got.

    """
    def decorate(function):
        for name in names.split():
            if name in FUNCTIONS:
                raise ValueError(f"saved_model: got operator {name} twice, expected one home")
            FUNCTIONS[name] = Operator(function, tuple(results.split()))
        return function
    return decorate


def row_function(function):
    """Enter a function that rows call by its name."""
    ROW_FUNCTIONS[function.__name__] = function
    return function


@functools.cache
def find(op):
    """Return an operator, or None.

    Parameters
    ----------
    op : str
        TensorFlow's name.

    Returns
    -------
    Optional[Operator]
        By its row, else its function.

    """
    run = table.function_of(op, resolve)
    return FUNCTIONS.get(op) if run is None else Operator(run)


def names():
    """Return the names of all operators.

    Returns
    -------
    Set[str]
        Those with rows and those with functions.

    """
    return {*table.rows(), *FUNCTIONS}


def resolve(name):
    """Return what a name in a row stands for."""
    if name == "tf":
        return sys.modules[FRONT]
    for found in (ROW_FUNCTIONS.get(name), getattr(values, name, None), getattr(builtins, name, None)):
        if found is not None:
            return found
    raise NameError(f"got {name!r}, expected a function of rows")


def results_of(op):
    """Return the names of an operator's results where there are several."""
    known = FUNCTIONS.get(op)
    found = known.results if known is not None and known.results else signatures.results_of(op)
    return found if len(found) > 1 else ()
