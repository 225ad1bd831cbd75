"""Shapes and dtypes of a function's results, learnt by running it on tensors that have no numbers."""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.shape_inference import infer_shapes
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.scopes import SymbolicScope
from dragon.vm.shared.tensors.tensor import ops

_prototypes = {}


def phantom(shape, dtype):
    """Return a tensor of a shape without numbers."""
    if dtype == "string":
        import numpy as np

        from dragon.vm.shared.tensors.strings import StringTensor
        return StringTensor(np.full(shape, b"", dtype=object))
    prototype = _prototypes.get(dtype)
    if prototype is None:
        prototype = _prototypes[dtype] = modes.with_numbers(lambda: ops.zeros((), dtype=dtype))
    return _C.phantom_like(prototype, shape)


def compute_spec(function, args=(), kwargs=None):
    """Return what a function would return, with symbolic tensors in the places of tensors.

    Parameters
    ----------
    function : Callable
        Works on tensors; it is run once, or several times if sizes are unknown.
    args : Sequence[Any], optional
        Its arguments, with symbolic tensors among them.
    kwargs : Dict[str, Any], optional
        Its named arguments.

    """
    given = (tuple(args), dict(kwargs or {}))
    from dragon.vm.keras.core.stateless import StatelessScope
    symbols = list({id(x): x for x in tree.flatten(given) if isinstance(x, KerasTensor)}.values())

    def call(shapes):
        made = {id(x): phantom(shape, x.dtype) for x, shape in zip(symbols, shapes)}
        args, kwargs = tree.map_structure(lambda x: made[id(x)] if isinstance(x, KerasTensor) else x, given)
        with modes.shapes_only(), StatelessScope(), SymbolicScope():
            return function(*args, **kwargs)
    result, shapes = infer_shapes(call, [x.shape for x in symbols], _shapes_in)
    shapes = iter(shapes)
    return tree.map_structure(
        lambda x: KerasTensor(next(shapes), dtype=standardize_dtype(x.dtype)) if _is_numbers(x) else x, result)


def _shapes_in(result):
    return [tuple(x.shape) for x in tree.flatten(result) if _is_numbers(x)]


def _is_numbers(x):
    return isinstance(x, _C.Tensor) or getattr(type(x), "is_string_tensor", False)


def compute_output_spec(function, *args, **kwargs):
    """Return the symbolic results of a function; `compute_spec` with the arguments spelled out."""
    return compute_spec(function, args, kwargs)
