"""Random tensors: PyTorch's streams on the CPU, so that equal seeds give PyTorch's numbers."""
from dragon.core.random import Generator, default_generator, get_rng_state, manual_seed, set_rng_state  # noqa: F401
from dragon.creation import empty, on_current_device
from dragon.tensor import ops

rand = on_current_device("rand")
randn = on_current_device("randn")
randint = on_current_device("randint")
randperm = on_current_device("randperm")
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
