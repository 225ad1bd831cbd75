"""The transforms that everybody uses."""
import functools

from dragon.vm.torch._functorch.eager_transforms import grad_and_value_impl
from dragon.vm.torch._functorch.vmap import vmap_impl


def grad(func, argnums=0, has_aux=False):
    """Return a function that computes the gradient of one with a scalar output.

    Parameters
    ----------
    func : Callable
        From tensors, or structures of them, to a tensor without axes.

    Returns
    -------
    Callable
        It returns gradients in the form of the arguments, and aux if there is.

    """
    @functools.wraps(func)
    def gradient(*args, **kwargs):
        grads, value = grad_and_value_impl(func, argnums, has_aux, args, kwargs)
        return (grads, value[1]) if has_aux else grads
    return gradient


def grad_and_value(func, argnums=0, has_aux=False):
    """Return a function that computes (the gradient, the value or (value, aux)); arguments as for `grad`."""
    @functools.wraps(func)
    def gradient(*args, **kwargs):
        return grad_and_value_impl(func, argnums, has_aux, args, kwargs)
    return gradient


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Return a function that applies another to every slice of its arguments.

    Parameters
    ----------
    func : Callable
        From tensors, or structures of them, to such.
    in_dims : Union[int, tuple], optional, default=0
        Along which axis each argument is cut; None for those that every call gets whole.
    out_dims : Union[int, tuple], optional, default=0
        Where the new axis of each result stands.
    randomness : str, optional, default="error"
        Whether random numbers are an error, the "same" for all slices, or "different".
    chunk_size : int, optional
        Accepted; slices are computed one by one.

    Returns
    -------
    Callable
        The function of batches.

    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args, **kwargs):
        return vmap_impl(func, in_dims, out_dims, randomness, args, kwargs)
    return mapped
