"""Masks that hide the future, as tensors that attention knows by their kind."""
import enum

from dragon.vm.torch.core.overrides import DisableTorchFunctionSubclass
from dragon.vm.torch.core.tensor import Tensor, ops


class CausalVariant(enum.IntEnum):
    """Which corner of the mask the diagonal starts from."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask of booleans that hides later keys.

    Parameters
    ----------
    variant : CausalVariant
        Whether first queries meet first keys, or last ones last ones.
    seq_len_q, seq_len_kv : int
        How many queries and keys.

    """

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"CausalBias: got {variant!r}, expected a CausalVariant")
        shift = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
        self = ops.tril(ops.ones((seq_len_q, seq_len_kv), dtype="bool"), shift).as_subclass(cls)
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        return self

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def causal_upper_left(*size):
    """Return a mask whose diagonal starts at the first query and key."""
    return _of_size(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size):
    """Return a mask whose diagonal ends at the last query and key."""
    return _of_size(CausalVariant.LOWER_RIGHT, size)


def _of_size(variant, size):
    if len(size) != 2:
        raise AssertionError(f"CausalBias: got {len(size)} sizes, expected those of queries and keys")
    return CausalBias(variant, *size)
