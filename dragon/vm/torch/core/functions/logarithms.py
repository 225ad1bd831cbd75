"""Sums of exponentials as logarithms, of complex numbers too: what is largest goes before, so nothing overflows."""
from dragon.vm.torch._api.tensors_only import guarded
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.functions.reduction import axis_words
from dragon.vm.torch.core.register import FUNCTIONS, both
from dragon.vm.torch.core.tensor import Tensor, ops

# The engine's, of real numbers: what is asked before them is as little as can be, as they take less than a microsecond.
_logaddexp = guarded("logaddexp", ops.logaddexp, ops)
_logsumexp, _logcumsumexp = ops.logsumexp, ops.logcumsumexp


def _is_complex(x):
    return isinstance(x, Tensor) and x.dtype.is_complex


def _along(who, dim, keepdim, named):
    """Return (dim, keepdim), which may have come under NumPy's words; a dim must be there."""
    if keepdim is None and "keepdims" in named:
        raise TypeError(f"{who}: got an unexpected keyword argument 'keepdims'")
    dim, keepdim = axis_words(who, dim, keepdim, named)
    if dim is None:
        raise TypeError(f"{who}: got no dim, expected one: {who}() missing 1 required positional arguments: \"dim\"")
    return dim, keepdim


def _add(x, y):
    """Return log(exp(x) + exp(y)): the one with the larger real part, and the logarithm of what the other adds to 1."""
    first, second = ops.real(x), ops.real(y)
    larger = ops.ge(first, second)
    big, small = ops.where(larger, x, y), ops.where(larger, y, x)
    # Two infinities have no difference. Two that are below all numbers stay, of others exp gives what there is to give.
    endless = ops.logical_and(ops.eq(first, second), ops.isinf(first))
    below = ops.logical_and(endless, ops.lt(first, 0))
    rest = ops.where(endless, 0, ops.sub(small, big))
    made = ops.add(big, ops.log(ops.add(ops.exp(rest), 1)))
    return ops.where(below, small, made)


@both
def logaddexp(input, other, *, out=None):
    """Return log(exp(input) + exp(other)) without overflow.

    Parameters
    ----------
    input, other : Tensor
        Real or complex numbers.

    """
    if not (_is_complex(input) or _is_complex(other)):
        return _logaddexp(input, other) if out is None else _logaddexp(input, other, out=out)
    for value, name in ((input, "input"), (other, "other")):
        if not isinstance(value, Tensor):
            raise TypeError(f"logaddexp: got '{type(value).__name__}' for argument '{name}', expected Tensor")
    dtype = FUNCTIONS["result_type"](input, other)
    return deliver(_add(input.to(dtype), other.to(dtype)), out)


@both
def logsumexp(input, dim=None, keepdim=False, *, out=None, **named):
    """Return the logarithm of the sum of exponentials along axes, without overflow.

    Parameters
    ----------
    input : Tensor
        Real or complex numbers.

    """
    if named or dim is None:
        dim, keepdim = _along("logsumexp", dim, keepdim, named)
    if not _is_complex(input):
        return _logsumexp(input, dim, keepdim) if out is None else _logsumexp(input, dim, keepdim, out=out)
    if input.numel() == 0:
        return deliver(ops.log(ops.sum(ops.exp(input), dim, keepdim)), out)
    largest = ops.amax(ops.real(input).detach(), dim, True)
    largest = ops.where(ops.isinf(largest), 0, largest)
    total = ops.log(ops.sum(ops.exp(ops.sub(input, largest)), dim, True))
    made = ops.add(total, largest)
    if not keepdim:
        made = ops.reshape(made, ops.sum(ops.real(input).detach(), dim, False).shape)
    return deliver(made, out)


@both
def logcumsumexp(input, dim=None, *, out=None, **named):
    """Return the logarithms of the sums of exponentials so far along an axis, without overflow.

    Parameters
    ----------
    input : Tensor
        Real or complex numbers.

    """
    if named or dim is None:
        dim, _ = _along("logcumsumexp", dim, None, named)
    if not _is_complex(input):
        return _logcumsumexp(input, dim) if out is None else _logcumsumexp(input, dim, out=out)
    made, reach = input if input.ndim else ops.reshape(input, (1,)), 1
    size = made.shape[dim]
    while reach < size:  # each sum so far reaches twice as far back as before
        earlier, later = ops.narrow(made, dim, 0, size - reach), ops.narrow(made, dim, reach, size - reach)
        made = ops.cat((ops.narrow(made, dim, 0, reach), _add(earlier, later)), dim)
        reach *= 2
    return deliver(ops.clone(ops.reshape(made, input.shape)), out)
