"""The base of every face's modules: they own tensors and other modules, and are walked through by name."""
import threading
import weakref

from dragon import _C
from dragon.core.operators import operators


class Module:
    """Own parameters, buffers and other modules; the base of PyTorch's modules, Keras's layers and Dragon's own.

    A face says what a module owns by three mappings from names: `_parameters` (tensors that training changes),
    `_buffers` (tensors that belong to the state only) and `_modules`; an entry may be None. The walks below go through
    modules of other faces as well, and show each tensor in the class of the face that was asked.
    """

    training = True
    has_regions = True  # whether calls may be graphs where a function around them is left to Python
    _parameters = _buffers = _modules = {}
    _non_persistent_buffers_set = frozenset()

    @classmethod
    def _adopt(cls, tensor, is_parameter):
        """Return a tensor that a module of another face owns, as one of this face's."""
        return tensor

    @classmethod
    def _show(cls, tensor):
        """Return a tensor of another face, which nobody owns, in the class of this face's."""
        return tensor

    # --- modules

    def children(self):
        """Yield the direct submodules, each once.

        Yields
        ------
        Module
            In the order in which they were added.

        Examples
        --------
        >>> list(nn.Sequential(nn.ReLU(), nn.Tanh()).children())
        [ReLU(), Tanh()]

        """
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """Yield the direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate=True):
        """Yield this module and all below it.

        Parameters
        ----------
        remove_duplicate : bool, optional, default=True
            Whether a module with two names comes once.

        Yields
        ------
        Module
            This one first.

        Examples
        --------
        >>> [type(module).__name__ for module in nn.Sequential(nn.ReLU(), nn.Tanh()).modules()]
        ['Sequential', 'ReLU', 'Tanh']

        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yield this module and all below it with their dotted names.

        Parameters
        ----------
        memo : Set[Module], optional
            Modules that are passed over.
        prefix : str, optional, default=""
            Put in front of the names.
        remove_duplicate : bool, optional, default=True
            Whether a module with two names comes once.

        Yields
        ------
        Tuple[str, Module]
            This one first, as "".

        Examples
        --------
        >>> [name for name, _ in nn.Sequential(nn.ReLU(), nn.Tanh()).named_modules()]
        ['', '0', '1']

        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    # --- tensors

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """Yield (dotted name, member) of what a function gives for each module."""
        seen = {}
        modules = (self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse
                   else [(prefix, self)])
        for path, module in modules:
            for name, member in get_members_fn(module):
                # By identity, without a call of Python's: optimizers and clipping walk here at every step.
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen[id(member)] = member
                yield f"{path}.{name}" if path else name, member

    def parameters(self, recurse=True):
        """Yield the parameters, each once; of this module alone unless `recurse`.

        Parameters
        ----------
        recurse : bool, optional, default=True
            Whether those of submodules are among them.

        Yields
        ------
        Parameter
            Each once.

        Examples
        --------
        >>> [tuple(parameter.shape) for parameter in nn.Linear(3, 2).parameters()]
        [(2, 3), (2,)]

        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield the parameters with their dotted names.

        Parameters
        ----------
        prefix : str, optional, default=""
            Put in front of the names.
        recurse : bool, optional, default=True
            Whether those of submodules are among them.
        remove_duplicate : bool, optional, default=True
            Whether a parameter with two names comes once.

        Yields
        ------
        Tuple[str, Parameter]
            Such as `("0.weight", ...)`.

        Examples
        --------
        >>> [name for name, _ in nn.Sequential(nn.Linear(3, 2), nn.ReLU()).named_parameters()]
        ['0.weight', '0.bias']

        """
        yield from self._named_members(lambda module: self._members_of(module, module._parameters, True), prefix,
                                       recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """Yield the buffers, each once; of this module alone unless `recurse`."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield the buffers with their dotted names."""
        yield from self._named_members(lambda module: self._members_of(module, module._buffers, False), prefix,
                                       recurse, remove_duplicate)

    @classmethod
    def _members_of(cls, module, table, is_parameter):
        """Return the pairs of one of a module's tables, as tensors of this face."""
        if module._adopt.__func__ is cls._adopt.__func__:
            return table.items()
        return [(name, value if value is None else cls._adopt(value, is_parameter)) for name, value in table.items()]

    # --- all of them at once

    def train(self, mode=True):
        """Set this module and those below it to training, or to evaluation with False.

        Parameters
        ----------
        mode : bool, optional, default=True
            Whether it is training.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> layer = nn.Dropout()
        >>> layer.train(False).training
        False

        """
        if not isinstance(mode, bool):
            raise ValueError(f"train: got {mode!r}, expected a bool")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Set this module and those below it to evaluation.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> nn.Dropout().eval().training
        False

        """
        return self.train(False)

    def apply(self, fn):
        """Call a function with every module below this one, then with this one; returns it.

        Parameters
        ----------
        fn : Callable
            Called with each module.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> def tell(module):
        ...     print(type(module).__name__)
        >>> model = nn.Sequential(nn.Linear(2, 1), nn.ReLU()).apply(tell)
        Linear
        ReLU
        Sequential

        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        """Put what a function returns in the place of every parameter, gradient and buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for table in (self._parameters, self._buffers):
            for tensor in table.values():
                if tensor is not None:
                    tensor.data = fn(tensor.detach())
        return self

    def requires_grad_(self, requires_grad=True):
        """Say for all parameters whether gradients are wanted."""
        for param in self.parameters():
            param.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none=True):
        """Take away all parameters' gradients, or fill them with zeros."""
        for param in self.parameters():
            if param.grad is not None:
                param.grad = None if set_to_none else zeros_like(param.grad)

    # --- saving and loading

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Enter this module's own parameters and buffers."""
        buffers = {name: value for name, value in self._buffers.items() if name not in self._non_persistent_buffers_set}
        for name, tensor in {**self._parameters, **buffers}.items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Return the parameters and persistent buffers by their dotted names; the memory is shared.

        Parameters
        ----------
        destination : dict, optional
            Where to put them; a new one by default.
        prefix : str, optional, default=""
            What stands before each name.
        keep_vars : bool, optional, default=False
            Return the tensors themselves, not aliases without history.

        Returns
        -------
        dict
            Names and tensors.

        """
        destination = {} if destination is None else destination
        save_foreign(self, self, destination, prefix, keep_vars)
        return destination

    def load_state_dict(self, state_dict, strict=True):
        """Copy numbers into parameters and buffers; nothing is copied unless names and shapes agree.

        Parameters
        ----------
        state_dict : dict
            Names and tensors, as `state_dict` returns them.
        strict : bool, optional, default=True
            Whether missing and unexpected names are errors.

        """
        own = self.state_dict(keep_vars=True)
        if strict and set(own) != set(state_dict):
            raise ValueError(f"load_state_dict: got the names {sorted(state_dict)}, expected {sorted(own)}")
        pairs = [(name, tensor, state_dict[name]) for name, tensor in own.items() if name in state_dict]
        for name, tensor, value in pairs:
            if tuple(value.shape) != tuple(tensor.shape):
                raise ValueError(f"load_state_dict: got shape {tuple(value.shape)} for '{name}', expected "
                                 f"{tuple(tensor.shape)}")
        for _, tensor, value in pairs:
            copy_into(tensor, value)


def save_foreign(asked, module, destination, prefix, keep_vars):
    """Enter the tensors of a module and of those below it as tensors of the face of the module that was asked."""
    own = {}
    module._save_to_state_dict(own, prefix, True)
    for name, tensor in own.items():
        tensor = asked._adopt(tensor, tensor.requires_grad)
        destination[name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            save_foreign(asked, child, destination, f"{prefix}{name}.", keep_vars)


_families_lock = threading.RLock()  # two threads that ask for the same twin get the same one
_families = {}  # id of an object -> (weak references to all objects that stand for the same tensor, the one to it)


def twin(tensor, tensor_class, kind):
    """Return the object of a class that stands for a tensor of another face: the same memory, gradient and history.

    As long as it lives, it is the same object each time; asked for the twin of a twin, the first one is returned.

    Parameters
    ----------
    tensor : Tensor
        A tensor of any face.
    tensor_class : type
        The class that the other face's results have.
    kind : type
        The class that is wanted, of the same layout.

    """
    with _families_lock:
        family = _families[id(tensor)][0] if id(tensor) in _families else _join([], tensor)
        for reference in list(family):
            other = reference()
            if other is not None and isinstance(other, kind):
                return other
        made = _C.as_class(tensor, tensor_class)
        if kind is not tensor_class:
            made.__class__ = kind
        _join(family, made)
        return made


def _join(family, tensor):
    """Add an object to a family for as long as it lives."""
    key = id(tensor)

    def forget(reference):
        _families.pop(key, None)
        family.remove(reference)
    reference = weakref.ref(tensor, forget)
    family.append(reference)
    _families[key] = family, reference
    return family


def copy_into(tensor, value):
    """Write a tensor's numbers into another one, unrecorded."""
    operators().copy(value.detach(), out=_C.as_class(tensor, _C.Tensor).detach())


def zeros_like(tensor):
    """Return zeros in a tensor's shape, dtype and class, unrecorded."""
    return _C.as_class(operators().zeros_like(tensor.detach()), type(tensor))
