"""Gradients of PyTorch's operators as rows of their dialect: who answers for operators hears backward passes, too."""
import builtins
import functools
from typing import FrozenSet, List, NamedTuple

from dragon.dialects.aten import table
from dragon.dialects.rows import Assignment
from dragon.vm.torch.core.aten.decomposed import inverse
from dragon.vm.torch.core.aten.kinds import is_pointwise
from dragon.vm.torch.core.dispatching.wrapper_subclass import stand_in
from dragon.vm.torch.core.exporting.decompositions import Called, compute_infix
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.tensor import Tensor


class Derivatives(NamedTuple):
    """The row of an operator."""

    parts: List[Assignment]
    read: FrozenSet[str]  # arguments and results, whose numbers some gradient reads


class _Values:
    """What the names in a row stand for, each asked of the call when it is read."""

    def __init__(self, call, grads, names):
        self.call, self.names = call, names
        self.given = {"grad": grads[0], "grads": grads, "form": call.form}

    def __getitem__(self, name):
        if name in self.given:
            return self.given[name]
        if name == "wanted":
            return [self.call.wants(argument) for argument in self.names]
        if name in self.call.values:
            return self.call.read(self.call.values[name])
        if name.startswith("result"):
            return self.call.result(int(name.removeprefix("result") or 0))
        raise KeyError(name)


@functools.cache
def derivatives_of(target):
    """Return the row of an operator, or None.

    Parameters
    ----------
    target : OpOverload
        The operator.

    Returns
    -------
    Optional[Derivatives]
        That of the operator which gives a new result where one writes in place and nobody reads what was there.

    """
    if target.namespace != "aten":
        return None
    name, overload = target.overloadpacket.__name__, target._overloadname
    parts = table.derivatives_of(name, overload, _resolve, compute_infix)
    if parts is None and name.endswith("_") and is_pointwise(name):
        parts = table.derivatives_of(name[:-1], overload, _resolve, compute_infix)
        if parts is not None and any(argument.is_write and argument.name in part.read
                                     for argument in target._schema.arguments for part in parts):
            return None
    return None if parts is None else Derivatives(parts, frozenset().union(*(part.read for part in parts)))


def gradients_of(call, grads):
    """Return the gradients of a call's arguments that are asked for.

    Parameters
    ----------
    call : Answered
        The call.
    grads : Sequence[Optional[Tensor]]
        Those of its results.

    Returns
    -------
    Dict[str, Any]
        By argument; NotImplemented where the row has nothing for such arguments, or there is none.

    """
    row, found = derivatives_of(call.target), {}
    if row is None or grads[0] is None:
        return NotImplemented if any(grad is not None for grad in grads) else {}
    for part in row.parts:
        if any(map(call.wants, part.names)):
            value = part.compute(_Values(call, grads, part.names))
            if value is NotImplemented:
                return NotImplemented
            found.update(zip(part.names, value) if len(part.names) > 1 else ((part.names[0], value),))
    return found


# --- functions in rows, besides operators

def fit(grad, like):
    """Return a gradient summed over the axes along which its tensor was repeated; of a real tensor it is real."""
    if not isinstance(like, Tensor):
        return None
    a = aten()
    if grad.is_complex() and not like.is_complex():
        grad = a.real.default(grad)
    sizes = list(like.shape)
    if list(grad.shape) == sizes:
        return grad
    extra = grad.ndim - len(sizes)
    axes = [axis for axis in range(grad.ndim) if axis < extra or sizes[axis - extra] == 1 != grad.shape[axis]]
    grad = a.sum.dim_IntList(grad, axes, True) if axes else grad
    return a.view.default(grad, sizes) if extra else grad


def scale(grad, factor):
    """Return a gradient times the conjugate of a number."""
    return grad if factor == 1 else aten().mul.Scalar(grad, conj(factor))


def conj(value):
    """Return the conjugate of a tensor or a number, which is itself where it is real."""
    if isinstance(value, complex):
        return value.conjugate()
    return aten().conj.default(value) if isinstance(value, Tensor) and value.is_complex() else value


def is_real(x):
    """Return whether a tensor is not of complex numbers."""
    return not x.is_complex()


def zero(like):
    """Return 0 as a tensor without axes of another's dtype."""
    return aten().scalar_tensor.default(0, dtype=like.dtype, device=like.device)


def count(x):
    """Return how many elements a tensor has."""
    return stand_in(x).numel()


def _is_turned(x):
    """Return whether a matrix lies column by column."""
    strides = stand_in(x).strides
    return strides[0] == 1 and strides[1] == x.shape[0]


def times_first(grad, first, second):
    """Return the gradient of the first of two matrices, which lies as that one does."""
    a = aten()
    if _is_turned(first):
        return a.t.default(a.mm.default(conj(second), a.t.default(grad)))
    return a.mm.default(grad, conj(a.t.default(second)))


def times_second(grad, first, second):
    """Return the gradient of the second of two matrices, which lies as that one does."""
    a = aten()
    if _is_turned(second):
        return a.t.default(a.mm.default(a.t.default(grad), conj(first)))
    return a.mm.default(conj(a.t.default(first)), grad)


def parts(grad, tensors, dim):
    """Return the parts of a gradient that belong to tensors which were put one behind the other."""
    made, start = [], 0
    for tensor in tensors:
        if tuple(tensor.shape) == (0,) and grad.ndim != 1:  # which fits everywhere
            made.append(aten().zeros.default([0], dtype=grad.dtype, device=grad.device))
        else:
            made.append(aten().slice.Tensor(grad, dim, start, start + tensor.shape[dim]))
            start += tensor.shape[dim]
    return made


def selected(grad, dim):
    """Return the parts of a gradient that belong to tensors which were put beside each other."""
    return [aten().select.int(grad, dim, place) for place in range(grad.shape[dim])]


def unsqueezed(grad, like, dims):
    """Return a gradient with those of some axes that have length 1 in a tensor."""
    for axis in sorted(axis % like.ndim for axis in dims) if like.ndim else ():
        grad = aten().unsqueeze.default(grad, axis) if like.shape[axis] == 1 else grad
    return grad


def spread(grad, like, dims, keepdim):
    """Return the gradient of a sum over axes, repeated along these."""
    for axis in sorted(axis % like.ndim for axis in dims or ()) if like.ndim and not keepdim else ():
        grad = aten().unsqueeze.default(grad, axis)
    return aten().expand.default(grad, list(like.shape))


_HELPERS = {function.__name__: function for function in (
    fit, scale, conj, is_real, zero, count, times_first, times_second, inverse, parts, selected,
    spread, unsqueezed)}
_PYTHON = ("list", "max", "range")  # which TorchScript has operators for


def _resolve(word):
    if word in _HELPERS:
        return _HELPERS[word]
    return Called(word) if overloads(word) and word not in _PYTHON else getattr(builtins, word)
