"""Which parts of a model are wrapped."""
import abc

from dragon.core.scopes import contextmanager
from dragon.vm.torch.nn.modules.activation import MultiheadAttention
from dragon.vm.torch.nn.modules.container import ModuleDict, ModuleList
from dragon.vm.torch.nn.modules.module import Module


def _post_order_apply(root_module, fn):
    """Replace modules within one by what a function returns for them, the inner ones first; None leaves one."""
    seen = {root_module}

    def visit(module):
        for name, child in list(module.named_children()):
            if child in seen:
                continue
            seen.add(child)
            visit(child)
            made = fn(child)
            if made is not None:
                setattr(module, name, made)
    visit(root_module)


def _construct_wrap_fn(root_module, target_module_to_kwargs, fsdp_fn):
    """Return a function that wraps the modules of a table, each with its options."""
    def wrap_one(module):
        if module in target_module_to_kwargs and module is not root_module:
            return fsdp_fn(module, **target_module_to_kwargs[module])
        return None
    return wrap_one


def _run_mixed_precision_override_policy(root_module, module_classes, ignored_modules, root_kwargs,
                                         target_module_to_kwargs):
    """Have modules of some classes be wrapped by themselves, in full precision."""
    for module in root_module.modules():
        if module not in ignored_modules and isinstance(module, tuple(module_classes)):
            options = target_module_to_kwargs.setdefault(module, dict(root_kwargs))
            options["mixed_precision"] = None
    return target_module_to_kwargs


def always_wrap_policy(*args, **kwargs):
    """Return True: every module is wrapped."""
    return True


class _Policy(abc.ABC):
    """What chooses the modules to wrap."""

    @abc.abstractmethod
    def _run_policy(self, root_module, ignored_modules, root_kwargs):
        """Return {module: its options} of the modules to wrap."""


def _module_wrap_policy(module, recurse, nonwrapped_numel, module_classes):
    """Return whether to look into a module, or whether it is of some classes."""
    return True if recurse else isinstance(module, tuple(module_classes))


class ModuleWrapPolicy(_Policy):
    """Wrap modules of some classes.

    Parameters
    ----------
    module_classes : Iterable[type]
        The classes.

    """

    def __init__(self, module_classes):
        self._module_classes = set(module_classes)

    def _run_policy(self, root_module, ignored_modules, root_kwargs):
        """Return {module: its options} of the modules to wrap."""
        return {module: dict(root_kwargs) for module in root_module.modules()
                if module not in ignored_modules and isinstance(module, tuple(self._module_classes))}

    def __call__(self, module, recurse, *args, **kwargs):
        return _module_wrap_policy(module, recurse, -1, self._module_classes)

    def __repr__(self):
        return super().__repr__() + f"({self._module_classes})"


class CustomPolicy(_Policy):
    """Wrap modules that a function says so of.

    Parameters
    ----------
    lambda_fn : Callable[[Module], Union[bool, Dict[str, Any]]]
        Returns whether to wrap a module, or options in which it differs.

    """

    def __init__(self, lambda_fn):
        self._lambda_fn = lambda_fn

    def _run_policy(self, root_module, ignored_modules, root_kwargs):
        """Return {module: its options} of the modules to wrap."""
        found = {}
        for module in root_module.modules():
            if module in ignored_modules:
                continue
            said = self._lambda_fn(module)
            if not isinstance(said, (dict, bool)):
                raise ValueError("The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, but "
                                 f"it returned {said}")
            if said:
                found[module] = {**root_kwargs, **(said if isinstance(said, dict) else {})}
        return found


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    """Return whether to look into a module, or whether a function says to wrap it."""
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    """Return whether to look into a module, or whether it is of a transformer's classes of layers."""
    return _module_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls)


def _wrap_module_cls_individually(module, module_classes, recurse, *args, **kwargs):
    """Return whether to look into a module, or whether it is of some classes."""
    return _module_wrap_policy(module, recurse, -1, module_classes)


def _or_policy(module, recurse, nonwrapped_numel, policies):
    """Return whether any of several policies says so."""
    return any(policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies)


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=int(1e8), force_leaf_modules=None,
                                exclude_wrap_modules=None):
    """Return whether what of a module is not wrapped yet is large enough to look into it, or to wrap it.

    Parameters
    ----------
    module : Module
        The module.
    recurse : bool
        Whether it is asked to look into it.
    nonwrapped_numel : int
        Elements of parameters that are not wrapped yet.
    min_num_params : int, optional, default=100000000
        What is large.
    force_leaf_modules : Set[type], optional
        Classes not to look into; `FORCE_LEAF_MODULES` of this function by default.
    exclude_wrap_modules : Set[type], optional
        Classes not to wrap; `EXCLUDE_WRAP_MODULES` of this function by default.

    Returns
    -------
    bool
        The answer.

    """
    own = size_based_auto_wrap_policy
    leaves = own.FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules
    left_out = own.EXCLUDE_WRAP_MODULES if exclude_wrap_modules is None else exclude_wrap_modules
    return nonwrapped_numel >= min_num_params and not isinstance(module, tuple(leaves if recurse else left_out))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {ModuleList, ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {MultiheadAttention}
_enabled = {"wrapper": None, "options": {}}


@contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """Have `wrap` wrap within a `with` block.

    Parameters
    ----------
    wrapper_cls : Callable
        What wraps.
    **wrapper_kwargs
        Its options.

    """
    if _enabled["wrapper"] is not None:
        raise NotImplementedError("You are already within an autowrap context and we currently do not supported nested "
                                  "autowrap.")
    _enabled.update(wrapper=wrapper_cls, options=wrapper_kwargs)
    try:
        yield
    finally:
        _enabled.update(wrapper=None, options={})


def wrap(module, **wrap_overrides):
    """Return a module, wrapped within a block of `enable_wrap`; with options in which it differs."""
    if _enabled["wrapper"] is None:
        return module
    return _wrap(module, _enabled["wrapper"], **{**_enabled["options"], **wrap_overrides})


def _wrap(module, wrapper_cls, **kwargs):
    return wrapper_cls(module, **{**kwargs, **getattr(module, "_wrap_overrides", {})})


def _recursive_wrap(module, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, only_wrap_children=False,
                    **kwargs):
    """Wrap modules that a policy says so of, the inner ones first.

    Parameters
    ----------
    module : Module
        The outermost one.
    auto_wrap_policy : Callable
        Says whether to look into a module, and whether to wrap it.
    wrapper_cls : Callable
        What wraps.
    ignored_modules, ignored_params : Set
        What is left as it is.
    only_wrap_children : bool, optional, default=False
        Whether the outermost one is not wrapped.
    **kwargs
        Given to `wrapper_cls`.

    Returns
    -------
    Tuple[Module, int]
        The module, and how many elements of parameters are wrapped.

    """
    if isinstance(wrapper_cls, type):
        for child in module.modules():
            if child not in ignored_modules and isinstance(child, wrapper_cls):
                raise AssertionError(f"Child module {child} is already wrapped by {wrapper_cls}")
    total = sum(param.numel() for param in module.parameters() if param not in ignored_params)
    if not auto_wrap_policy(module=module, recurse=True, nonwrapped_numel=total):
        return module, 0
    wrapped = 0
    for name, child in list(module.named_children()):
        if child not in ignored_modules:
            made, count = _recursive_wrap(child, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params,
                                          **kwargs)
            if made is not child:
                setattr(module, name, made)
            wrapped += count
    if not only_wrap_children and auto_wrap_policy(module=module, recurse=False, nonwrapped_numel=total - wrapped):
        return _wrap(module, wrapper_cls, **kwargs), total
    return module, wrapped


def wrap_by_policy(root, policy, wrapper_cls, ignored_modules, ignored_params, options):
    """Wrap the modules within one that a policy chooses: one of this file's classes, or a function.

    Parameters
    ----------
    root : Module
        The outermost one, which is not wrapped here.
    policy : Union[_Policy, Callable]
        The policy.
    wrapper_cls : Callable
        What wraps.
    ignored_modules, ignored_params : Set
        What is left as it is.
    options : Dict[str, Any]
        Given to `wrapper_cls`.

    """
    in_full = getattr(options.get("mixed_precision"), "_module_classes_to_ignore", ())
    if isinstance(policy, _Policy):
        chosen = policy._run_policy(root, ignored_modules, options)
        if in_full:
            chosen = _run_mixed_precision_override_policy(root, in_full, ignored_modules, options, chosen)
        _post_order_apply(root, _construct_wrap_fn(root, chosen, wrapper_cls))
        return
    if not callable(policy):
        raise TypeError(f"Expected {policy} to be callable or be a pre-defined wrap policy")
    if in_full and any(isinstance(module, tuple(in_full)) for module in root.modules()):
        given = policy

        def policy(module, recurse, nonwrapped_numel):
            return isinstance(module, tuple(in_full)) and not recurse or given(
                module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for module in root.modules():
            if isinstance(module, tuple(in_full)):
                module._wrap_overrides = {"mixed_precision": None}
    _recursive_wrap(root, policy, wrapper_cls, ignored_modules, ignored_params, only_wrap_children=True, **options)


def modules_within(modules):
    """Return modules and all that are in them, as a set; raise for what is none."""
    for module in modules:
        if not isinstance(module, Module):
            raise ValueError(f"ignored_modules expects nn.Module list elements but got {type(module)}")
    return {each for module in modules for each in module.modules()}
