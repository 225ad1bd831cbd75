"""Higher-order operators, which take functions as graphs: `torch.ops.higher_order`."""
from dragon.vm.torch.core.exporting.tracing_state import current_tracer

OPERATORS = {}


class HigherOrderOperator:
    """An operator that takes functions as graphs.

    Parameters
    ----------
    name : str
        What it is called under `torch.ops.higher_order`.
    run : Callable
        What it does.
    operands : Callable
        What its graphs are called with, in a call with some arguments.

    """

    def __init__(self, name, run, operands):
        self.__name__, self.run, self.operands, self.namespace = name, run, operands, "higher_order"
        self.__module__ = "torch.ops.higher_order"
        OPERATORS[name] = self

    def name(self):
        """Return the operator's name."""
        return self.__name__

    def __call__(self, *args, **kwargs):
        found = current_tracer()
        if found is None:
            return self.run(*args, **kwargs)
        return found.emit(self, args, kwargs, found.quietly(self.run, args, kwargs), self.__name__)

    def __str__(self):
        return self.__name__

    def __repr__(self):
        return f"<HigherOrderOperator {self.__name__}>"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _operator, (self.__name__,)


def _operator(name):
    return OPERATORS[name]
