"""The Python function of a `tf.function`, as it is called while it is traced."""
import functools
import inspect
import types

from dragon import _C
from dragon.core.capture.code_names import is_library
from dragon.vm.shared import nest
from dragon.vm.shared.autograph import calls, library, status
from dragon.vm.shared.recording import leaks
from dragon.vm.shared.recording.inputs import Inputs
from dragon.vm.shared.errors import InaccessibleTensorError
from dragon.vm.shared.tensors import tracing
from dragon.vm.shared.tensors.type_spec import TensorSpec

assert library  # what rewritten functions call: it enters itself


_GRAPHS_HAVE = ("_type_spec", "_staged_parts", "element_spec", "__tf_tracing_type__", "__array__", "numpy")


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
    signature : Sequence[TypeSpec], optional
        What the arguments must be.

    """

    def __init__(self, autograph, features, within, signature=None):
        self.autograph, self.features, self._within = autograph, features, within
        self._specs = nest.flatten(signature)
        self._has_open_sizes = any(isinstance(spec, TensorSpec) and not spec.shape.is_fully_defined()
                                   for spec in self._specs)

    def _rewritten(self, function):
        if self._within is None:
            return calls.rewritten(function, self.features, True) or function
        inner, reference = self._within
        return bound_to(calls.rewritten(inner, self.features, True) or inner, reference())

    def call(self, function, args, kwargs, specs=()):
        """Return what a function returns for arguments, which stand for all that specs describe, if there are some."""
        outer, inputs = tracing.current(), Inputs(function, args, kwargs)
        names = _names_of(function, args, kwargs, specs or self._specs)
        trace = tracing.Trace(self.autograph, names, self._has_open_sizes or bool(outer and outer.has_open_sizes))
        with status.within(status.Status(self.autograph, self.features)), tracing.tracing(trace):
            try:
                result = (self._rewritten(function) if self.autograph else function)(*inputs.args, **inputs.kwargs)
                inputs.require_unchanged()
                _require_results(function, result)
                if outer is None:
                    leaks.mark_leaks(getattr(function, "__name__", type(function).__name__))
                return result
            except _C.EngineError as error:
                if "made within a branch or loop" not in str(error):
                    raise
                raise InaccessibleTensorError(f"{function.__name__}: a tensor cannot be accessed from here, because it "
                                              f"was defined in a branch or loop, which is out of scope: {error}"
                                              ) from None


def bound_to(function, instance):
    """Return a method of an object; of one that is gone, the function is given None, as TensorFlow does."""
    return functools.partial(function, None) if instance is None else types.MethodType(function, instance)


def _require_results(function, result):
    """Raise a TypeError if a function returns what graphs do not have."""
    for value in nest.flatten(result):
        kind = type(value)
        if isinstance(value, (types.GeneratorType, types.FunctionType, types.ModuleType)) or (
                not isinstance(value, _C.Tensor) and not is_library(kind.__module__)
                and not any(hasattr(value, name) for name in _GRAPHS_HAVE)):
            raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or "
                            f"ExtensionTypes or None values; in compilation of {function}, found return value of type "
                            f"{kind.__name__}, which is not a Tensor or ExtensionType.")


def _names_of(function, args, kwargs, specs):
    """Return by the ids of tensors among arguments what they are called, and the shapes that a signature says."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    leaves = [(name if place == 0 else f"{name}_{place}", leaf) for name, value in bound.items()
              for place, leaf in enumerate(nest.flatten(value))]
    shapes = [getattr(spec, "shape", None) for spec in specs] if len(specs) == len(leaves) else [None] * len(leaves)
    return {id(leaf): (name, shape) for (name, leaf), shape in zip(leaves, shapes) if isinstance(leaf, _C.Tensor)}
