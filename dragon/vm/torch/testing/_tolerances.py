"""How far results may be apart, by their dtypes."""
from dragon.vm import torch
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.testing._letters import ErrorMeta

# The relative and the absolute tolerance of a dtype; others must be equal.
PRECISIONS = {"float16": (0.001, 1e-5), "bfloat16": (0.016, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


def default_tolerances(*inputs, dtype_precisions=None):
    """Return (rtol, atol), the loosest of those of tensors or dtypes."""
    precisions = {dtype.name: both for dtype, both in (dtype_precisions or {}).items()} or PRECISIONS
    names = []
    for given in inputs:
        if not isinstance(given, (Tensor, torch.dtype)):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(given)} instead.")
        names.append((given.dtype if isinstance(given, Tensor) else given).name)
    rtols, atols = zip(*(precisions.get(name, (0.0, 0.0)) for name in names))
    return max(rtols), max(atols)


def get_tolerances(*inputs, rtol, atol, id=()):
    """Return (rtol, atol), the given ones, or where both are None those of tensors or dtypes."""
    if (rtol is None) != (atol is None):
        raise ErrorMeta(ValueError, "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                        f"{'rtol' if rtol is None else 'atol'}.", id=id)
    return default_tolerances(*inputs) if rtol is None else (rtol, atol)
