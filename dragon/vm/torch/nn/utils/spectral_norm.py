"""Weights divided by their largest singular value, by a hook: the older form."""
from dragon.core.modes import no_grad
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from dragon.vm.torch.nn.parameter import Parameter, is_lazy
from dragon.vm.torch.nn.utils.weight_norm import find


def as_matrix(weight, dim):
    """Return a weight as a matrix whose rows go along an axis."""
    if dim != 0:
        weight = ops.permute(weight, (dim, *(axis for axis in range(weight.dim()) if axis != dim)))
    return ops.reshape(weight, (weight.shape[0], -1))


def axis_of_outputs(module, dim):
    """Return the axis of a layer's weight that its outputs go along."""
    if dim is not None:
        return dim
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


class SpectralNorm:
    """The hook that computes the weight before each forward; while training, the estimate is improved first."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """Return a weight as a matrix."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module, do_power_iteration):
        """Return the weight divided by the estimate of its largest singular value."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(ops.mv(ops.t(matrix), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(ops.mv(matrix, v), dim=0, eps=self.eps))
                # The next forward writes to the buffers again, before the gradient of this one is asked for perhaps.
                u, v = ops.clone(u), ops.clone(v)
        return weight / ops.dot(u, ops.mv(matrix, v))

    def remove(self, module):
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat, u, target_sigma):
        """Return the vector that goes with `u`, for files that lack it."""
        transposed = ops.t(weight_mat)
        v = ops.mv(ops.matmul(ops.pinverse(ops.matmul(transposed, weight_mat)), transposed), u)
        return v * (target_sigma / ops.dot(u, ops.mv(weight_mat, v)))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Put the hook onto a module and return it."""
        if find(module._forward_pre_hooks, SpectralNorm, name) is not None:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to "
                             "run the dummy forward before applying spectral normalization")
        with no_grad():
            sizes = as_matrix(weight, dim).shape
            u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in sizes)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # The weight is an attribute like any other until the first forward.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class _OfHook:
    """The base of what a hook does when a state is saved or loaded."""

    def __init__(self, fn):
        self.fn = fn

    name = property(lambda self: self.fn.name, doc="The parameter's name.")


class SpectralNormLoadStateDictPreHook(_OfHook):
    """Brings older files to the present form."""

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        hook, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(hook.name + ".version", None)
        if version is not None and version >= 1:
            return
        if all(key + end in state_dict for end in ("_orig", "_u", "_v")) and key not in state_dict:
            return
        missing = [key + end for end in ("_orig", "", "_u") if key + end not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = ops.mean(original / weight)
            state_dict[key + "_v"] = hook._solve_v_and_rescale(as_matrix(original, hook.dim), state_dict[key + "_u"],
                                                               sigma)


class SpectralNormStateDictHook(_OfHook):
    """Notes the version of the form in which it is saved."""

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a parameter by the estimate of its largest singular value; returns the module.

    Parameters
    ----------
    module : Module
        The layer.
    name : str, optional, default="weight"
        The parameter.
    n_power_iterations : int, optional, default=1
        How often the estimate is improved at each forward.
    eps : float, optional, default=1e-12
        The smallest norm to divide by.
    dim : int, optional
        The axis that outputs go along.

    """
    SpectralNorm.apply(module, name, n_power_iterations, axis_of_outputs(module, dim), eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undo `spectral_norm`; returns the module."""
    number = find(module._forward_pre_hooks, SpectralNorm, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(number).remove(module)
    number = find(module._state_dict_hooks, SpectralNormStateDictHook, name)
    module._state_dict_hooks.pop(number, None)
    for number, wrapped in list(module._load_state_dict_pre_hooks.items()):
        if isinstance(wrapped.hook, SpectralNormLoadStateDictPreHook) and wrapped.hook.name == name:
            del module._load_state_dict_pre_hooks[number]
            break
    return module
