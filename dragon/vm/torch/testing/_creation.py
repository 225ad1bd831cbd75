"""Random inputs for tests."""
import math

from dragon.core import warnings
from dragon.vm import torch


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False,
                exclude_zero=False, memory_format=None):
    """Return a tensor of random numbers from `low` up to `high`.

    Parameters
    ----------
    shape : int
        The sizes, or one sequence of them.
    dtype : torch.dtype
        The elements' type.
    device : Union[str, torch.device]
        Where.
    low : float, optional
        The least number; -9 by default, 0 for bool.
    high : float, optional
        Above the greatest; 9 by default, 10 for integers, 2 for bool.
    requires_grad : bool, optional, default=False
        Whether it asks for gradients.
    noncontiguous : bool, optional, default=False
        Whether it is every other column of a larger one.
    exclude_zero : bool, optional, default=False
        Whether zeros become the least positive number.
    memory_format : torch.memory_format, optional
        The order in memory.

    Returns
    -------
    torch.Tensor
        The same numbers as PyTorch's after the same seed.

    """
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
                         f"but got {noncontiguous=} and {memory_format=}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, but got "
                         f"{dtype=}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    made = draw(shape, dtype, device, *bounds(dtype, low, high))
    if noncontiguous:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = torch.finfo(dtype).tiny if inexact else 1
    if requires_grad:
        made.requires_grad = True
    return made


def bounds(dtype, low, high):
    """Return the bounds of random numbers of a dtype; raise where it has none of the numbers asked for."""
    if dtype is torch.bool:
        first, end, default_low, default_high = 0, 2, 0, 2
    elif dtype.is_floating_point or dtype.is_complex:
        info = torch.finfo(dtype)
        first, end, default_low, default_high = info.min, info.max, -9, 9
    else:
        info = torch.iinfo(dtype)
        first, end, default_low, default_high = info.min, info.max + (dtype is not torch.int64), -9, 10
    low, high = default_low if low is None else low, default_high if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if low == high and inexact:
        warnings.warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
                      "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.", FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < first or low >= end:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only "
                         f"supports [{first}, {end})")
    low, high = min(max(low, first), end), min(max(high, first), end)
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))


def draw(shape, dtype, device, low, high):
    """Return random numbers between bounds."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(low, high, shape, device=device, dtype=dtype)
    made = torch.empty(shape, device=device, dtype=dtype)
    place = torch.view_as_real(made) if dtype.is_complex else made
    if high - low >= torch.finfo(dtype).max:
        place.uniform_(low / 2, high / 2).mul_(2)  # the width itself would be no finite number
    else:
        place.uniform_(low, high)
    return made
