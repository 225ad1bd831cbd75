"""Take parameters out of a layer: a mask beside the parameter, and a hook that applies it before each forward."""
import numbers
from abc import ABC, abstractmethod

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """A way to prune; subclasses define `compute_mask` and `PRUNING_TYPE`: "unstructured", "structured" or "global"."""

    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """Return the mask for a tensor, of which `default_mask` has taken elements out already."""

    def apply_mask(self, module):
        """Return the parameter with the mask applied."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return ops.cast(getattr(module, self._tensor_name + "_mask"), original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune a parameter of a module, further if it is pruned; returns the method."""
        method = _combined(cls, module, name, args, kwargs)
        original = getattr(module, name)
        scores = _checked_scores(importance_scores, original)
        first = not isinstance(method, PruningContainer)
        mask = ops.ones_like(original) if first else ops.clone(getattr(module, name + "_mask").detach())
        # Computed before anything is touched: a mask that cannot be leaves the module as it was.
        mask = method.compute_mask(scores, default_mask=mask)
        if first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """Return a tensor with the mask applied that this method computes for it."""
        scores = _checked_scores(importance_scores, t)
        default_mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """Make the pruned tensor the parameter, for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _checked_scores(scores, tensor):
    """Return the numbers by which elements are ranked: those given, or the tensor's own."""
    if scores is None:
        return tensor
    if tuple(scores.shape) != tuple(tensor.shape):
        raise AssertionError(f"importance_scores should have the same shape as the tensor, got {scores.shape} vs "
                             f"{tensor.shape}")
    return scores


def _hooks_of(module, name=None):
    """Return the numbers of a module's pruning hooks, or of those on one parameter."""
    return [number for number, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and name in (None, hook._tensor_name)]


def _combined(cls, module, name, args, kwargs):
    """Return a new method, or the container of it and of those that prune the parameter already."""
    found = _hooks_of(module, name)
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                             "PruningContainer.")
    method = cls(*args, **kwargs)
    method._tensor_name = name
    if not found:
        return method
    before = module._forward_pre_hooks.pop(found[0])
    container = before if isinstance(before, PruningContainer) else PruningContainer(before)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Methods that prune one parameter after each other."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method, which must be for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                             f"PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """Return the mask after the last method, which sees what is left of the others."""
        method = self._pruning_methods[-1]
        mask = default_mask
        if method.PRUNING_TYPE == "unstructured":
            left = ops.eq(mask, 1)
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` '
                                     "defined.")
            axis = _axis(t, method.dim)
            kept = ops.ne(ops.sum(mask, [other for other in range(t.dim()) if other != axis]), 0)
            left = (*[slice(None)] * axis, kept)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        made = ops.clone(ops.cast(mask, t.dtype))
        made[left] = ops.cast(method.compute_mask(t[left], default_mask=mask[left]), made.dtype)
        return made


class Identity(BasePruningMethod):
    """Prune nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """Return the mask as it was."""
        return default_mask


class _Amount(BasePruningMethod):
    """A method that takes a number or a share of elements out."""

    def _count(self, size):
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class _Unstructured(_Amount):
    """A method that takes single elements out."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        """Return the mask without the elements that rank last."""
        count = self._count(t.numel())
        mask = ops.clone(default_mask)
        if count:
            mask.view(-1)[self._places(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prune elements at random."""

    def _places(self, t, count):
        return ops.topk(ops.reshape(ops.rand_like(t), (-1,)), count)[1]


class L1Unstructured(_Unstructured):
    """Prune the elements nearest to zero."""

    def _places(self, t, count):
        return ops.topk(ops.reshape(ops.abs(t), (-1,)), count, largest=False)[1]


class _Structured(_Amount):
    """A method that takes whole slices along an axis out."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        """Return the mask without the slices that rank last."""
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of "
                             f"shape {t.shape} with {t.dim()} dims")
        axis = _axis(t, self.dim)
        count = self._count(t.shape[axis])
        if count == 0:
            return default_mask
        mask = ops.zeros_like(t)
        mask[(*[slice(None)] * axis, self._kept(t, axis, count))] = 1
        return mask * ops.cast(default_mask, mask.dtype)


class RandomStructured(_Structured):
    """Prune slices at random."""

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def _kept(self, t, axis, count):
        drawn = ops.rand((t.shape[axis],))
        return drawn > ops.kthvalue(drawn, count)[0]


class LnStructured(_Structured):
    """Prune the slices of the smallest norms."""

    def __init__(self, amount, n, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def _kept(self, t, axis, count):
        return ops.topk(_compute_norm(t, self.n, axis), t.shape[axis] - count)[1]


class CustomFromMask(BasePruningMethod):
    """Prune what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """Return both masks together."""
        if tuple(default_mask.shape) != tuple(self.mask.shape):
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape "
                                 f"{self.mask.shape}")
        return default_mask * ops.cast(self.mask, default_mask.dtype)


def identity(module, name):
    """Prepare a parameter for pruning without taking anything out; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune a number or share of a parameter's elements at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune a number or share of a parameter's elements, those nearest to zero; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune a number or share of a parameter's slices at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune a number or share of a parameter's slices, those of the smallest norms; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prune what a mask says; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune elements of several parameters, ranked all together.

    Parameters
    ----------
    parameters : Iterable[Tuple[Module, str]]
        Modules and names of their parameters.
    pruning_method : type
        A method for single elements.
    importance_scores : Dict[Tuple[Module, str], Tensor], optional
        By which they are ranked.
    **kwargs
        What the method takes.

    """
    if not hasattr(parameters, "__iter__"):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = parameters_to_vector([importance_scores.get(key, getattr(*key)) for key in parameters])
    masks = parameters_to_vector([getattr(module, name + "_mask", ops.ones_like(getattr(module, name)))
                                  for module, name in parameters])
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    final, start = container.compute_mask(scores, masks), 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=ops.view_as(final[start:start + param.numel()], param))
        start += param.numel()


def remove(module, name):
    """Make a pruned tensor the parameter, for good; returns the module."""
    found = _hooks_of(module, name)
    if not found:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    module._forward_pre_hooks.pop(found[0]).remove(module)
    return module


def is_pruned(module):
    """Return whether a module, or one below it, is pruned."""
    return any(_hooks_of(child) for child in module.modules())


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount, tensor_size):
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _compute_norm(t, n, dim):
    """Return the norms of the slices along an axis."""
    axes = [axis for axis in range(t.dim()) if axis != dim % t.dim()]
    return t.norm(p=n, dim=axes)


def _axis(t, dim):
    """Return an axis as a number from 0."""
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
    return dim % t.dim()
