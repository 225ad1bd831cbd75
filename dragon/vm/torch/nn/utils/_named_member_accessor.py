"""Get, set and swap the tensors of a module by dotted names."""
from dragon.vm.torch.core.tensor import Tensor

_MISSING = object()


def set_tensor(module, name, tensor):
    """Put a tensor into a module's own parameter or buffer."""
    swap_tensor(module, name, tensor)


def swap_tensor(module, name, tensor, allow_missing=False):
    """Put a tensor into the place of a module's own and return what was there; `_MISSING` empties the place."""
    if "." in name or not name:
        raise KeyError(f"tensor name can't be empty or contain '.', got {name!r}")
    for table in (module._parameters, module._buffers):
        if name in table:
            before = table[name]
            if tensor is _MISSING:
                del table[name]
            else:
                table[name] = tensor
            return before
    if not hasattr(module, name):
        if not allow_missing:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        before = _MISSING
    else:
        before = getattr(module, name)
        if not isinstance(before, Tensor):
            raise TypeError(f"{before} is not an instance of torch.Tensor")
    if tensor is _MISSING:
        delattr(module, name)
    else:
        setattr(module, name, tensor)
    return before


class NamedMemberAccessor:
    """A module's tensors and submodules by dotted names.

    Parameters
    ----------
    module : Module
        The module.

    """

    def __init__(self, module):
        self.module = module
        self.memo = {}

    def get_submodule(self, name):
        """Return a submodule."""
        if not name:
            return self.module
        if name not in self.memo:
            path, _, own = name.rpartition(".")
            self.memo[name] = getattr(self.get_submodule(path), own)
        return self.memo[name]

    def _parent(self, name):
        path, _, own = name.rpartition(".")
        return self.get_submodule(path), own

    def get_tensor(self, name):
        """Return a tensor."""
        module, own = self._parent(name)
        return getattr(module, own)

    def set_tensor(self, name, value):
        """Put a tensor in the place of one."""
        self.swap_tensor(name, value)

    def swap_tensor(self, name, value, allow_missing=False):
        """Put a tensor in the place of one and return that."""
        module, own = self._parent(name)
        return swap_tensor(module, own, value, allow_missing)

    def swap_tensors_dict(self, named_tensors, allow_missing=False):
        """Put tensors in the places of others; return those, and the names that there were none of."""
        before, missing = {}, []
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, allow_missing=True)
                if before[name] is _MISSING and not allow_missing:
                    missing.append(name)
        except Exception:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise
        if missing:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        return before, missing

    def check_keys(self, keys):
        """Return the names that are missing among these, and those that the module does not have."""
        own = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        keys = set(keys)
        return sorted(own - keys), sorted(keys - own)

    def named_parameters(self, remove_duplicate=True):
        """Yield the parameters with their names."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        """Yield the buffers with their names."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate=True):
        """Yield parameters and buffers with their names."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate=True):
        """Yield the modules with their names."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)
