"""Random tensors: PyTorch's streams on the CPU, so that equal seeds give PyTorch's numbers."""
from dragon.core.random import Generator, default_generator, get_rng_state, manual_seed, set_rng_state  # noqa: F401
from dragon.creation import SHAPE, empty, on_current_device
from dragon.tensor import ops

STREAM = "generator : Generator, optional\n    The stream of numbers; the current one by default."
rand = on_current_device(
    "rand", "Return uniform numbers in [0, 1).", f"{SHAPE}\n{STREAM}", "Of that shape.",
    ">>> x = dragon.random.rand((2, 3))\n>>> x.shape, bool((x >= 0).all()), bool((x < 1).all())\n"
    "((2, 3), True, True)")
randn = on_current_device(
    "randn", "Return normal numbers with mean 0 and standard deviation 1.", f"{SHAPE}\n{STREAM}", "Of that shape.",
    ">>> dragon.random.randn((2, 3)).shape\n(2, 3)")
randint = on_current_device(
    "randint", "Return integers from `low` up to `high`, which is not among them.",
    f"low, high : int\n    The bounds.\n{SHAPE}\n{STREAM}", "Of that shape.",
    ">>> x = dragon.random.randint(1, 7, (100,))\n>>> bool((x >= 1).all()), bool((x <= 6).all())\n(True, True)")
randperm = on_current_device(
    "randperm", "Return the integers below `n` in random order.", f"n : int\n    How many.\n{STREAM}",
    "Of shape `(n,)`.", ">>> sorted(dragon.random.randperm(4).tolist())\n[0, 1, 2, 3]")
rand_like = ops.rand_like
randn_like = ops.randn_like
randint_like = ops.randint_like
bernoulli = ops.bernoulli
binomial = ops.binomial
multinomial = ops.multinomial
poisson = ops.poisson
standard_gamma = ops.standard_gamma


def fill(operator, shape, args, dtype, device, generator, requires_grad):
    """Return a fresh tensor into which a sampling operator has drawn."""
    made = empty(shape, dtype=dtype, device=device)
    operator(made, *args, generator=generator, out=made)
    made.requires_grad = requires_grad
    return made


def uniform(low=0.0, high=1.0, shape=(), *, dtype=None, device=None, generator=None, requires_grad=False):
    """Return numbers drawn evenly from an interval.

    Parameters
    ----------
    low : float, optional, default=0.0
        Its lower end, which may be drawn.
    high : float, optional, default=1.0
        Its upper end, which is not drawn.
    shape : Sequence[int], optional, default=()
        Shape of the result.
    dtype : dtype, optional
        By default the default float dtype.
    device : Union[str, Device], optional
        By default the one of the innermost `dragon.device` block.
    generator : Generator, optional
        By default the current one.
    requires_grad : bool, optional, default=False
        Whether to gather gradients.

    Returns
    -------
    Tensor
        A leaf.

    """
    return fill(ops.uniform, shape, (low, high), dtype, device, generator, requires_grad)


def normal(mean=0.0, std=1.0, shape=(), *, dtype=None, device=None, generator=None, requires_grad=False):
    """Return numbers drawn from a normal distribution.

    Parameters
    ----------
    mean : float, optional, default=0.0
        Its centre.
    std : float, optional, default=1.0
        Its standard deviation.
    shape, dtype, device, generator, requires_grad
        As for `uniform`.

    Returns
    -------
    Tensor
        A leaf.

    """
    return fill(ops.normal, shape, (mean, std), dtype, device, generator, requires_grad)
