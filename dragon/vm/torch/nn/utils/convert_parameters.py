"""Parameters as one vector, and back."""
from dragon.vm.torch.core.tensor import Tensor, ops


def parameters_to_vector(parameters):
    """Return all elements of parameters as one vector."""
    parameters = list(parameters)
    _check_param_device(parameters)
    return ops.cat([ops.reshape(param, (-1,)) for param in parameters])


def vector_to_parameters(vec, parameters):
    """Let parameters be slices of a vector, one after the other."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    parameters = list(parameters)
    _check_param_device(parameters)
    start = 0
    for param in parameters:
        stop = start + param.numel()
        param.data = ops.view(vec[start:stop], param.shape).data
        start = stop


def _check_param_device(parameters):
    """Raise unless all parameters are on one device."""
    if len({str(param.device) for param in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
