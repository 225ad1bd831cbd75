"""The members of a module: registering and finding parameters, buffers and submodules."""
from dragon import _C
from dragon.core.module import Module as AnyModule
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.modules._hooks import (_global_buffer_registration_hooks, _global_module_registration_hooks,
                                               _global_parameter_registration_hooks)
from dragon.vm.torch.nn.parameter import Parameter, adopt


def typename(value):
    """Return the name that messages call a value's type."""
    if isinstance(value, Tensor) and hasattr(value, "type"):
        return value.type() if type(value) is Tensor else f"{type(value).__module__}.{type(value).__name__}"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def check_name(module, what, name, table):
    """Raise unless something of this name can be registered in a table of the module."""
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if hasattr(module, name) and name not in table:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain ".", got: {name}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')


def _text(target):
    """Return a dotted name, or raise TypeError for what is none."""
    if not isinstance(target, str):
        raise TypeError(f"Module: got {type(target).__name__} for a target, expected a dotted name")
    return target


class MembersOfModule(AnyModule):
    """The part of Module that knows its members; those of other faces' modules show as PyTorch's."""

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is no parameter but part of the state.

        Parameters
        ----------
        name : str
            Its name, as an attribute of the module.
        tensor : Optional[Tensor]
            The buffer; None is not saved.
        persistent : bool, optional, default=True
            Whether it is part of the `state_dict`.

        Examples
        --------
        >>> module = nn.Module()
        >>> module.register_buffer("mean", torch.tensor([1.0]))
        >>> module.mean, list(module.state_dict())
        (tensor([1.]), ['mean'])

        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None "
                            "required)")
        tensor = _asked(_global_buffer_registration_hooks, self, name, tensor)
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name, param):
        """Add a parameter under a name; None marks one that is left out.

        Parameters
        ----------
        name : str
            Under which it is an attribute, too.
        param : Optional[Parameter]
            The parameter.

        Examples
        --------
        >>> module = nn.Module()
        >>> module.register_parameter("scale", nn.Parameter(torch.ones(1)))
        >>> module.register_parameter("bias", None)
        >>> list(module.state_dict())
        ['scale']

        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        check_name(self, "parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter "
                                "or None required)")
            if param.grad_fn is not None:
                raise ValueError(f"register_parameter: got a computed tensor for '{name}', expected a leaf; compute it "
                                 "from other parameters in forward() instead")
            param = _asked(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def add_module(self, name, module):
        """Add a submodule under a name; None marks one that is left out."""
        if module is not None and not isinstance(module, AnyModule):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        check_name(self, "module", name, self._modules)
        self._modules[name] = _asked(_global_module_registration_hooks, self, name, module)
        self._welcome(module)

    def _welcome(self, module):
        """Have a module of another face train or not as this one does."""
        if module is not None and not isinstance(module, MembersOfModule):
            module.train(self.training)

    def register_module(self, name, module):
        """Add a submodule under a name."""
        self.add_module(name, module)

    def get_submodule(self, target):
        """Return the submodule of a dotted name.

        Parameters
        ----------
        target : str
            Names with dots between them; "" is this module.

        Returns
        -------
        Module
            The one of that name.

        Examples
        --------
        >>> nn.Sequential(nn.Sequential(nn.ReLU())).get_submodule("0.0")
        ReLU()

        """
        module = self
        for item in _text(target).split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, AnyModule):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Put a module in the place of the submodule of a dotted name; `strict` forbids new names."""
        if target == "":
            raise ValueError("set_submodule: got an empty target, expected a name")
        if not isinstance(module, AnyModule):
            raise ValueError(f"set_submodule: got {type(module)}, expected an nn.Module")
        path, _, name = _text(target).rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), AnyModule):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_member(self, target, what, belongs):
        path, _, name = _text(target).rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        member = getattr(module, name)
        if not belongs(module, name, member):
            raise AttributeError(f"`{name}` is not {what}")
        return member

    def get_parameter(self, target):
        """Return the parameter of a dotted name."""
        return self._get_member(target, "an nn.Parameter", lambda module, name, found: isinstance(found, Parameter))

    def get_buffer(self, target):
        """Return the buffer of a dotted name."""
        return self._get_member(target, "a buffer", lambda module, name, found: name in module._buffers)

    @classmethod
    def _adopt(cls, tensor, is_parameter):
        """Return a tensor that a module of another face owns, as one of PyTorch's: the same memory and gradient."""
        return adopt(tensor, Parameter if is_parameter else Tensor)

    @classmethod
    def _show(cls, tensor):
        """Return a tensor of another face in the class of PyTorch's."""
        return tensor if isinstance(tensor, Tensor) else _C.as_class(tensor, Tensor)


def _asked(hooks, module, name, value):
    """Return a value, or what registration hooks put in its place."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value
