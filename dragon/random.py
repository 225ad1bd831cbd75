"""Random tensors: PyTorch's streams on the CPU, so that equal seeds give PyTorch's numbers."""
from dragon.core.random import Generator, default_generator, get_rng_state, manual_seed, set_rng_state  # noqa: F401
from dragon.creation import empty, on_current_device
from dragon.tensor import ops

rand = on_current_device("rand")
randn = on_current_device("randn")
randint = on_current_device("randint")
randperm = on_current_device("randperm")


def uniform(low=0.0, high=1.0, shape=(), **options):
    """Return uniform numbers in [low, high) of a shape; `options` are those of `dragon.empty`, and `generator`."""
    return fill("uniform", low, high, shape, **options)


def normal(mean=0.0, std=1.0, shape=(), **options):
    """Return normal numbers of a shape; `options` are those of `dragon.empty`, and `generator`."""
    return fill("normal", mean, std, shape, **options)


def fill(name, first, second, shape, generator=None, requires_grad=False, **options):
    """Return memory of a shape that a sampler has overwritten."""
    made = empty(shape, **options)
    getattr(ops, name)(made, first, second, generator=generator, out=made)
    made.requires_grad = requires_grad
    return made


rand_like = ops.rand_like
randn_like = ops.randn_like
randint_like = ops.randint_like
bernoulli = ops.bernoulli
binomial = ops.binomial
multinomial = ops.multinomial
poisson = ops.poisson
standard_gamma = ops.standard_gamma
