"""The base of tensors that say what they are."""
from dragon.vm import torch
from dragon.vm.torch.core.overrides import DisableTorchFunctionSubclass

_keeps = {"subclass": False}


class _Restore:
    """Give the old answer back at the end of a `with` block."""

    def __init__(self, before):
        self.before = before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _keeps["subclass"] = self.before


def set_return_type(return_type):
    """Choose what functions return for these tensors: "Tensor", or "TVTensor" for their own class.

    Parameters
    ----------
    return_type : str
        "Tensor" or "TVTensor".

    Returns
    -------
    ContextManager
        Takes the choice back at its end, if it is used in a `with` statement.

    """
    before = _keeps["subclass"]
    try:
        _keeps["subclass"] = {"tensor": False, "tvtensor": True}[return_type.lower()]
    except KeyError:
        raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type}") from None
    return _Restore(before)


# These always return what they were given.
_ALWAYS = frozenset("clone to detach requires_grad_ pin_memory".split())


class TVTensor(torch.Tensor):
    """A tensor that says what it is; functions return plain tensors unless `set_return_type` says otherwise."""

    @staticmethod
    def _to_tensor(data, dtype=None, device=None, requires_grad=None):
        if requires_grad is None:
            requires_grad = data.requires_grad if isinstance(data, torch.Tensor) else False
        return torch.as_tensor(data, dtype=dtype, device=device).requires_grad_(requires_grad)

    @classmethod
    def _wrap_output(cls, output, args=(), kwargs=None):
        if isinstance(output, torch.Tensor):
            return output if isinstance(output, cls) else cls.wrap(output, first_of(cls, args, kwargs), **cls._loose)
        if isinstance(output, (tuple, list)) and not isinstance(output, torch.Size):
            parts = [cls._wrap_output(part, args, kwargs) for part in output]
            return type(output)(*parts) if hasattr(output, "_fields") else type(output)(parts)
        return output

    _loose = {}
    _particulars = None  # attributes beside the numbers, which are shown and handed on; None: shown as tensors are

    def __init__(self, *args, **kwargs):
        super().__init__()

    @classmethod
    def wrap(cls, tensor, like, **kwargs):
        """Return a tensor as this class, with the particulars of another one."""
        if not cls._particulars:
            return tensor.as_subclass(cls)
        return cls._wrap(tensor, check_dims=kwargs.get("check_dims", True),
                         **{name: kwargs.get(name, getattr(like, name)) for name in cls._particulars})

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            output = func(*args, **(kwargs or {}))
        always = getattr(func, "__name__", "") in _ALWAYS and args and isinstance(args[0], cls)
        if _keeps["subclass"] or always:
            return cls._wrap_output(output, args, kwargs)
        return output.as_subclass(torch.Tensor) if isinstance(output, cls) else output

    def __repr__(self, *, tensor_contents=None):
        if self._particulars is None:
            return super().__repr__(tensor_contents=tensor_contents)
        return self._make_repr(**{name: getattr(self, name) for name in self._particulars})

    def _make_repr(self, **kwargs):
        said = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        return f"{super().__repr__()[:-1]}, {said})"

    def __deepcopy__(self, memo):
        return self.detach().clone().requires_grad_(self.requires_grad)


def first_of(cls, args, kwargs):
    """Return the first argument, or item of one, that is of a class."""
    for argument in (*args, *(kwargs or {}).values()):
        for item in argument if isinstance(argument, (tuple, list)) else (argument,):
            if isinstance(item, cls):
                return item
    return None
