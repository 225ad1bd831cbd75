"""Keep gradients small."""
import types

from dragon.core import warnings
from dragon.core.modes import no_grad
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse.parts import is_coordinates, is_sparse, replace, values_of
from dragon.vm.torch.core.tensor import Tensor, ops


def _as_list(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters):
    """Return the gradients there are; of sparse ones the values, once those of equal indices are added up."""
    grads = [param.grad for param in _as_list(parameters) if param.grad is not None]
    if not any([is_sparse(grad) for grad in grads]):
        return grads
    return [values_of(_settled(grad)) if is_sparse(grad) else grad for grad in grads]


def _settled(grad):
    """Return a sparse gradient, which holds each index once from now on."""
    if is_coordinates(grad) and not grad.is_coalesced():
        replace(grad, grad.detach().coalesce())
    return grad


def _are_alike(tensors):
    """Return whether the engine takes tensors at once: of one dtype on one device."""
    first = tensors[0]
    return all(tensor.dtype == first.dtype and tensor.device == first.device for tensor in tensors[1:])


def _refuse_nonfinite(norm_type):
    raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                       "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                       "anyway, set `error_if_nonfinite=False`")


@no_grad()
def _get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Return the norm of tensors as if they were one vector.

    Parameters
    ----------
    tensors : Union[Tensor, Iterable[Tensor]]
        The tensors.
    norm_type, error_if_nonfinite, foreach
        See clip_grad_norm_.

    Returns
    -------
    Tensor
        The norm.

    """
    tensors, norm_type = _as_list(tensors), float(norm_type)
    if not tensors:
        return ops.zeros((), dtype=OBJECTS["float32"])
    if _are_alike(tensors):
        total = ops.foreach_norm(tensors, norm_type)
    else:
        norms = [ops.linalg_vector_norm(tensor, norm_type).to(tensors[0].device) for tensor in tensors]
        total = ops.linalg_vector_norm(ops.stack(norms), norm_type)
    if error_if_nonfinite and not ops.isfinite(total).item():
        _refuse_nonfinite(norm_type)
    return total


@no_grad()
def _clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients, in place, so that a norm computed before becomes at most `max_norm`."""
    gradients = _gradients(parameters)
    if not gradients:
        return
    # A little is added so that nothing is divided by zero; below the bound nothing grows.
    scale = ops.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for gradient in gradients:
        gradient.mul_(scale.to(gradient.device))


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the gradients of parameters, in place, so that their norm as one vector is at most `max_norm`.

    Parameters
    ----------
    parameters : Union[Tensor, Iterable[Tensor]]
        The parameters; those without a gradient do not count.
    max_norm : float
        The bound.
    norm_type : float, optional, default=2.0
        Of the norm.
    error_if_nonfinite : bool, optional, default=False
        Raise if the norm is infinite or no number.
    foreach : bool, optional
        Accepted: gradients are always taken at once where they can be.

    Returns
    -------
    Tensor
        The norm before.

    Examples
    --------
    >>> weight = nn.Parameter(torch.zeros(2))
    >>> weight.grad = torch.tensor([3.0, 4.0])
    >>> nn.utils.clip_grad_norm_([weight], max_norm=1.0)
    tensor(5.)
    >>> weight.grad
    tensor([0.6000, 0.8000])

    """
    if isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.")
    gradients = _gradients(parameters)
    if not gradients:
        return ops.zeros((), dtype=OBJECTS["float32"])
    if _are_alike(gradients) and not error_if_nonfinite:
        return ops.clip_grad_norm(gradients, float(max_norm), float(norm_type))
    total = _get_total_norm(gradients, norm_type, error_if_nonfinite)
    _clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Do as `clip_grad_norm_`, under its old name."""
    warnings.warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
                  FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Cut the gradients of parameters, in place, to within `clip_value` of zero."""
    clip_value = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.clamp_(-clip_value, clip_value)
