"""Tensors from nothing, on the device of the innermost `dragon.device` block."""
import functools

from dragon.core.device import current_device
from dragon.tensor import ops

DOC = """{sentence}

Parameters
----------
{own}
dtype : Union[dtype, str], optional
    The type of the elements; it follows from the numbers by default.
device : Union[str, Device], optional
    By default the one of the innermost `dragon.device` block.
requires_grad : bool, optional, default=False
    Whether to gather gradients.
out : Tensor, optional
    Written into, and returned.

Returns
-------
Tensor
    {result}

Examples
--------
{example}
"""
SHAPE = "shape : Sequence[int]\n    The sizes of the axes."


def on_current_device(name, sentence, own, result, example):
    """Return an operator as a function that also takes `requires_grad`, and whose `device` follows `dragon.device`.

    Parameters
    ----------
    name : str
        The operator.
    sentence, own, result, example : str
        What its docstring says: what it does, its own arguments, the result, and an example.

    Returns
    -------
    Callable
        The function.

    """
    operator = getattr(ops, name)

    # Its docstring is not taken over: that of an operator is made when it is asked for, which takes its time.
    @functools.wraps(operator, assigned=("__name__",), updated=())
    def create(*args, requires_grad=False, device=None, **kwargs):
        made = operator(*args, device=current_device() if device is None else device, **kwargs)
        made.requires_grad = requires_grad
        return made
    create.__doc__ = DOC.format(sentence=sentence, own=own, result=result, example=example)
    return create


empty = on_current_device(
    "empty", "Return a tensor with whatever the memory held.", SHAPE, "Of that shape.",
    ">>> dragon.empty((2, 3)).shape\n(2, 3)")
zeros = on_current_device(
    "zeros", "Return zeros.", SHAPE, "Of that shape.",
    ">>> dragon.zeros((2, 3))\nTensor([[0., 0., 0.],\n        [0., 0., 0.]])")
ones = on_current_device(
    "ones", "Return ones.", SHAPE, "Of that shape.",
    ">>> dragon.ones((3,), dtype=\"int64\")\nTensor([1, 1, 1])")
full = on_current_device(
    "full", "Return a tensor of one number.", f"{SHAPE}\nvalue : number\n    What every element is.", "Of that shape.",
    ">>> dragon.full((2, 2), 7)\nTensor([[7, 7],\n        [7, 7]])")
arange = on_current_device(
    "arange", "Return the numbers from `start` up to `stop`, which is not among them.",
    "start : number\n    The first number; the end, if it is the only one.\n"
    "stop : number, optional\n    Where to stop.\n"
    "step : number, optional, default=1\n    The distance of neighbours.", "Of shape `(ceil((stop - start) / step),)`.",
    ">>> dragon.arange(1, 10, 3)\nTensor([1, 4, 7])")
ENDS = "start : number\n    {0}.\nstop : number\n    {1}.\nsteps : int\n    How many numbers."
linspace = on_current_device(
    "linspace", "Return evenly spaced numbers.", ENDS.format("The first number", "The last number"),
    "Of shape `(steps,)`.", ">>> dragon.linspace(0, 1, 5)\nTensor([0.  , 0.25, 0.5 , 0.75, 1.  ])")
logspace = on_current_device(
    "logspace", "Return powers of evenly spaced exponents.",
    f"{ENDS.format('The first exponent', 'The last exponent')}\nbase : float, optional, default=10.0\n"
    "    Whose powers are taken.", "Of shape `(steps,)`.",
    ">>> dragon.logspace(0, 2, 3)\nTensor([  1.,  10., 100.])")
eye = on_current_device(
    "eye", "Return a matrix with ones on its diagonal.",
    "n : int\n    Rows.\nm : int, optional\n    Columns; as many as rows by default.", "Of shape `(n, m)`.",
    ">>> dragon.eye(2)\nTensor([[1., 0.],\n        [0., 1.]])")
empty_like = ops.empty_like
zeros_like = ops.zeros_like
ones_like = ops.ones_like
full_like = ops.full_like
