"""The Python function of a `tf.function`, as it is called while it is traced."""
import inspect
import types

from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared import nest
from dragon.vm.shared.autograph import calls, library, status
from dragon.vm.shared.errors import InaccessibleTensorError
from dragon.vm.shared.tensors import tracing

assert library  # what rewritten functions call: it enters itself


class Body:
    """What is called when a function is traced: the Python function, or what AutoGraph makes of it.

    Parameters
    ----------
    autograph : bool
        Whether branches and loops over tensors become parts of graphs.
    features : Tuple[str, ...]
        What is rewritten besides; see `dragon.vm.shared.autograph.status.features_of`.
    within : Tuple[Callable, Callable], optional
        Of a method, the function that the class has, and what returns the object.
    has_open_sizes : bool, optional, default=False
        Whether one trace is for arguments of several sizes.

    """

    def __init__(self, autograph, features, within, has_open_sizes=False):
        self.autograph, self.features, self._within = autograph, features, within
        self._has_open_sizes = has_open_sizes

    def _rewritten(self, function):
        if self._within is None:
            return calls.rewritten(function, self.features, True) or function
        inner, reference = self._within
        return types.MethodType(calls.rewritten(inner, self.features, True) or inner, reference())

    def call(self, function, args, kwargs):
        """Return what a function returns for arguments."""
        names, outer = {}, tracing.current()
        if is_capturing():
            names = _names_of(function, args, kwargs)
        trace = tracing.Trace(self.autograph, names, self._has_open_sizes or bool(outer and outer.has_open_sizes))
        with status.within(status.Status(self.autograph, self.features)), tracing.tracing(trace):
            try:
                return (self._rewritten(function) if self.autograph else function)(*args, **kwargs)
            except _C.EngineError as error:
                if "made within a branch or loop" not in str(error):
                    raise
                raise InaccessibleTensorError(f"{function.__name__}: a tensor cannot be accessed from here, because it "
                                              f"was defined in a branch or loop, which is out of scope: {error}"
                                              ) from None


def _names_of(function, args, kwargs):
    """Return by the ids of tensors among arguments what they are called."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    found = {}
    for name, value in bound.items():
        leaves = nest.flatten(value)
        found.update((id(leaf), name if place == 0 else f"{name}_{place}") for place, leaf in enumerate(leaves)
                     if isinstance(leaf, _C.Tensor))
    return found
