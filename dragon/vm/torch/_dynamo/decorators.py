"""Marks of dims that vary, as files of PyTorch's hold them."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _DimRange:
    """A dim and the sizes that it may have."""

    dim: int
    min: int
    max: int
