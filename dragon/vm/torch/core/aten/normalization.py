"""Batch normalization and dropout with what their gradients need, and gradients of normalizations."""
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.tensor import ops


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Return (normalized, mean, reciprocal of the deviation); the two are empty where the running ones are used."""
    torch = api()
    made = torch.nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return made, torch.empty(0), torch.empty(0)
    axes = [axis for axis in range(input.ndim) if axis != 1]
    return made, input.mean(axes), (input.var(axes, correction=0) + eps).rsqrt()


def native_batch_norm_functional(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Return the same, and the running statistics after the step, which are not written to."""
    mean, var = running_mean.clone(), running_var.clone()
    return (*native_batch_norm(input, weight, bias, mean, var, training, momentum, eps), mean, var)


def asked(values, mask):
    """Return the gradients that are asked for, None in place of others."""
    return tuple(value if wanted else None for value, wanted in zip(values, mask))


def native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
                               output_mask):
    """Return the gradients of input, weight and bias."""
    if not train:
        save_mean, save_invstd = running_mean, (running_var + eps).rsqrt()
    return asked(ops.batch_norm_backward(grad_out, input, save_mean, save_invstd, weight, train, *output_mask),
                 output_mask)


def native_dropout(input, p, train):
    """Return (what is left, where something is left)."""
    torch = api()
    kept = torch.nn.functional.dropout(torch.ones_like(input), p, True if train is None else train)
    return input * kept, kept != 0
