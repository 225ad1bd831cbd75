"""What each of TensorFlow's operators is here: a function of a node and its operands."""
from dragon.vm.tensorflow.core.saved_model import signatures
from dragon.vm.tensorflow.core.saved_model.values import tensor

OPERATORS = {}


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


def results_of(op):
    """Return the names of an operator's results where there are several."""
    found = OPERATORS[op].results or signatures.results_of(op)
    return found if len(found) > 1 else ()


def enter(names, run, results=""):
    """Have operators of these names be run by a function."""
    for name in names.split():
        if name in OPERATORS:
            raise ValueError(f"saved_model: got operator {name} twice, expected one home")
        OPERATORS[name] = Operator(run, tuple(results.split()))


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
        enter(names, function, results)
        return function
    return decorate


def plain(names, results=""):
    """Return a decorator: the function takes tensors alone and no attributes."""
    def decorate(function):
        enter(names, lambda node, *operands: function(*map(tensor, operands)), results)
        return function
    return decorate


def rows(module, lines):
    """Enter operators that are functions of tensors alone.

    Parameters
    ----------
    module : Any
        Where the functions are.
    lines : str
        For each operator "Name" and the function's name.

    """
    for line in lines.split("\n"):
        if line.strip():
            names, _, name = line.strip().rpartition(" ")
            enter(names, _call(module, name))


def _call(module, name):
    """Return what calls a function, which is looked up when it is first called."""
    def run(node, *operands):
        return getattr(module, name)(*[tensor(operand) for operand in operands])
    return run
