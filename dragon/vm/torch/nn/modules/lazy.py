"""Modules that learn the shapes of their parameters from their first input."""

from dragon.core import warnings
from dragon.vm.torch.nn.parameter import is_lazy


class LazyModuleMixin:
    """Stands before a module class; parameters begin without a shape and get it in the first call.

    A subclass defines `initialize_parameters(*input)`, and `cls_to_become`, the class of the module afterwards.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        warnings.warn("Lazy modules are a new feature under heavy development so changes to the API or functionality "
                      "can happen at any moment.")

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # Like Module's, but a tensor without a shape cannot be detached.
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if is_lazy(param) or keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if is_lazy(buffer) or keep_vars else buffer.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Take the shapes from what is loaded."""
        for name, param in {**self._parameters, **self._buffers}.items():
            key = prefix + name
            if key in state_dict and param is not None and is_lazy(param) and not is_lazy(state_dict[key]):
                param.materialize(state_dict[key].shape)

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters their shapes; for subclasses to define."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Return whether a parameter or buffer still has no shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module, args, kwargs=None):
        """Before the first forward: initialize, and become the class that the module stands for."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
                           "forward pass to correctly initialize the modules")
