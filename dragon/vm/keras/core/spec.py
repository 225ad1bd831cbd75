"""Shapes and dtypes of a function's results, learnt by running it on tensors that have no numbers."""
import contextlib
import threading

from dragon import _C
from dragon.core import modes
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.scopes import SymbolicScope
from dragon.vm.shared.tensors.tensor import ops

# What stands for sizes that are not known: two runs tell which sizes of the results follow them. They can be divided
# by many numbers and halved often, as nets do with images.
SIZES = (960, 1920)
_prototypes = {}
_local = threading.local()  # the size that stands for unknown ones in this thread's run, and whether it was asked for


def phantom(shape, dtype, unknown=SIZES[0]):
    """Return a tensor without numbers; sizes that are None become `unknown`."""
    shape = tuple(unknown if size is None else size for size in shape)
    if dtype == "string":
        import numpy as np

        from dragon.vm.shared.tensors.strings import StringTensor
        return StringTensor(np.full(shape, b"", dtype=object))
    prototype = _prototypes.get(dtype)
    if prototype is None:
        before = modes.set_phantom(False)
        prototype = _prototypes[dtype] = ops.zeros((), dtype=dtype)
        modes.set_phantom(before)
    return _C.phantom_like(prototype, shape)


def run_phantom(function, args, kwargs, unknown=SIZES[0]):
    """Return what a function makes of phantoms in the places of symbolic tensors."""
    made = {}

    def fill(x):
        if not isinstance(x, KerasTensor):
            return x
        if id(x) not in made:
            made[id(x)] = phantom(x.shape, x.dtype, unknown)
        return made[id(x)]
    from dragon.vm.keras.core.stateless import StatelessScope
    args, kwargs = tree.map_structure(fill, tuple(args)), tree.map_structure(fill, dict(kwargs))
    outer, _local.unknown = getattr(_local, "unknown", None), unknown
    try:
        with modes.shapes_only(), StatelessScope(), SymbolicScope():
            return function(*args, **kwargs)
    finally:
        _local.unknown = outer


def size_by_numbers(count):
    """Return `count()`, a size that numbers decide, or what stands for it where there are none.

    Parameters
    ----------
    count : Callable
        Looks at the numbers.

    """
    if getattr(_local, "unknown", None) is None:
        return count()
    try:
        return count()
    except NotImplementedError:
        _local.asked = True
        return _local.unknown


def compute_spec(function, args=(), kwargs=None, is_cutting=False):
    """Return what a function would return, with symbolic tensors in the places of tensors.

    Parameters
    ----------
    function : Callable
        Works on tensors; it is run once, or twice if sizes are unknown.
    args : Sequence[Any], optional
        Its arguments, with symbolic tensors among them.
    kwargs : Dict[str, Any], optional
        Its named arguments.
    is_cutting : bool, optional, default=False
        Whether it takes as many elements as there are, up to a number: it is run on few as well.

    """
    kwargs = kwargs or {}
    is_open = any(None in x.shape for x in tree.flatten((args, kwargs)) if isinstance(x, KerasTensor))
    before, _local.asked = getattr(_local, "asked", False), False
    first = run_phantom(function, args, kwargs)
    is_open, _local.asked = is_open or _local.asked, before
    if not is_open:
        return tree.map_structure(_symbolic, first)
    results = [first, run_phantom(function, args, kwargs, SIZES[1])]
    if is_cutting:
        with contextlib.suppress(Exception):  # an index may be beyond the few
            results.append(run_phantom(function, args, kwargs, 2))
    return tree.map_structure(_merge, *results)


def _symbolic(x):
    if not _is_numbers(x):
        return x
    return KerasTensor(tuple(x.shape), dtype=standardize_dtype(x.dtype))


def _merge(first, *others):
    """Return a symbolic tensor whose sizes are those that all runs agree in."""
    if not _is_numbers(first):
        return first
    shapes = [tuple(x.shape) for x in (first, *others)]
    if len(set(map(len, shapes))) > 1:
        raise ValueError("The number of axes of the result depends on sizes that are not known. "
                         f"Received: {shapes[0]} and {shapes[1]}")
    shape = tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes))
    return KerasTensor(shape, dtype=standardize_dtype(first.dtype))


def _is_numbers(x):
    return isinstance(x, _C.Tensor) or getattr(type(x), "is_string_tensor", False)


def compute_output_spec(function, *args, **kwargs):
    """Return the symbolic results of a function; `compute_spec` with the arguments spelled out."""
    return compute_spec(function, args, kwargs)
