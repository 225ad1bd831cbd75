"""Random tensors: PyTorch's streams on the CPU, so that equal seeds give PyTorch's numbers."""
from dragon.core.random import Generator, default_generator, get_rng_state, manual_seed, set_rng_state  # noqa: F401
