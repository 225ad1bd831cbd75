"""Weights as length and direction, by a hook: the older form."""

from dragon.core import warnings
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.parameter import Parameter, is_lazy


def norm_except(v, dim):
    """Return the norms of a weight over all axes but one; over all for -1."""
    if dim == -1:
        return ops.linalg_vector_norm(v, 2)
    return ops.linalg_vector_norm(v, 2, [axis for axis in range(v.dim()) if axis != dim], True)


def normalized(v, g, dim):
    """Return a weight of direction `v` and length `g`."""
    return v * (g / norm_except(v, dim))


class WeightNorm:
    """The hook that computes the weight before each forward."""

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        """Return the weight from its length and direction."""
        return normalized(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Put the hook onto a module and return it."""
        warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
                      "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
        if find(module._forward_pre_hooks, WeightNorm, name) is not None:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run "
                             "the dummy forward before applying weight normalization")
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except(weight, hook.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module):
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def find(hooks, kind, name):
    """Return the number of the hook of a kind that stands for a parameter, or None."""
    return next((number for number, hook in hooks.items() if isinstance(hook, kind) and hook.name == name), None)


def weight_norm(module, name="weight", dim=0):
    """Split a parameter into length, `<name>_g`, and direction, `<name>_v`; returns the module."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undo `weight_norm`; returns the module."""
    number = find(module._forward_pre_hooks, WeightNorm, name)
    if number is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(number).remove(module)
    return module
