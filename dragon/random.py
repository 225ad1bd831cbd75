"""Random tensors: PyTorch's streams on the CPU, so that equal seeds give PyTorch's numbers."""
from dragon.core.random import Generator, default_generator, get_rng_state, manual_seed, set_rng_state  # noqa: F401
from dragon.creation import on_current_device
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
