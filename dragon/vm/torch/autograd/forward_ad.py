"""Forward-mode differentiation: dual numbers that stand on the tape.

A dual number is a tensor that the tape follows, and a level remembers its tangent. What tangent a result has is asked
of the tape when it is taken apart, by two backward passes: the first one, pulled with a vector, is linear in that
vector, and the second one is its derivative by it, which is the Jacobian times the tangents.
"""
import threading
from collections import namedtuple

from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack, Scope
from dragon.vm.torch._functorch.eager_transforms import _Level
from dragon.vm.torch.core.tensor import Tensor, ops

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
_local = threading.local()


class _Duals(_Level):
    """The dual numbers of a level."""

    def __init__(self):
        super().__init__(True)
        self.pairs = []  # of a dual number and its tangent

    def tangent_of(self, tensor):
        """Return (the tangent of a tensor, None if no dual number is in its history; whether it has a history)."""
        own = next((tangent for dual, tangent in self.pairs if dual is tensor), None)
        outside = self.reaches_outside([tensor]) or any(tangent.requires_grad for _, tangent in self.pairs)
        if own is not None or not tensor.requires_grad or not self.pairs:
            return own, outside
        with ExitStack() as exits:
            exits.switch(modes.set_recording, True)
            vector = ops.zeros_like(tensor.detach()).requires_grad_()
            pulled = _C.grad([tensor], [dual for dual, _ in self.pairs], [vector], True, True, True)
            reached = [(grad, tangent) for grad, (_, tangent) in zip(pulled, self.pairs) if grad is not None]
            if not reached:
                return None, outside
            moving = [pair for pair in reached if pair[0].requires_grad]
            found = None
            if moving:
                found, = _C.grad([grad for grad, _ in moving], [vector], [tangent for _, tangent in moving], True,
                                 outside, True)
            return ops.zeros_like(tensor.detach()) if found is None else found, outside


def _level():
    return getattr(_local, "level", None)


def _current_level(level):
    """Return the level that is meant, or None."""
    if level not in (None, 0):
        raise RuntimeError(f"forward_ad: got level={level!r}, expected 0: levels are not nested")
    return _level()


def make_dual(tensor, tangent, *, level=None):
    """Return a tensor that has a tangent.

    Parameters
    ----------
    tensor : Tensor
        The numbers, real or complex.
    tangent : Tensor
        Their derivatives, of the same shape.
    level : int, optional
        The level, the present one by default.

    Returns
    -------
    Tensor
        Over the same memory. The tape follows it, and what is computed of it.

    Examples
    --------
    >>> import torch.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor(6.)

    """
    duals = _current_level(level)
    if duals is None:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                           "enter_dual_level() first.")
    for what, value in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual: got {type(value).__name__} as the {what}, expected a tensor")
        if not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {value.dtype}")
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise RuntimeError(f"make_dual: got a tangent of shape {tuple(tangent.shape)}, expected that of the tensor, "
                           f"{tuple(tensor.shape)}")
    if not modes.is_recording():
        raise NotImplementedError("make_dual: got a call under no_grad, expected one that is recorded: dual numbers "
                                  "stand on the tape here")
    if tensor.requires_grad:
        dual = tensor.view_as(tensor)
    else:
        dual = tensor.detach().requires_grad_()
        duals.leaves.append(dual)
    duals.pairs.append((dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """Return a tensor's numbers and its tangent, None where it has none.

    Parameters
    ----------
    tensor : Tensor
        The tensor.
    level : int, optional
        The level, the present one by default.

    Returns
    -------
    UnpackedDualTensor
        Both.

    """
    duals = _current_level(level)
    if duals is None:
        return UnpackedDualTensor(tensor, None)
    tangent, outside = duals.tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(tensor if outside else tensor.detach(), tangent)


def enter_dual_level():
    """Open a level, in which there may be dual numbers; return its number."""
    if _level() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _local.level = _Duals()
    return 0


def exit_dual_level(*, level=None):
    """Close a level: its dual numbers have no tangents any more."""
    if _current_level(level) is None:
        raise RuntimeError("exit_dual_level: got no level, expected enter_dual_level() before")
    _local.level = None


class dual_level(Scope):
    """Have dual numbers within a `with` block."""

    def _enter_scope(self, exits):
        """Open a level."""
        if _level() is not None:
            return enter_dual_level()  # it refuses
        exits.set(_local, "level", _Duals())
        return 0
