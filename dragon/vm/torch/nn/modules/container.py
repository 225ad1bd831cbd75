"""Modules that hold others in order or by name."""
import operator
from collections import OrderedDict
from itertools import islice

from dragon.core.module import Module as AnyModule
from dragon.vm.torch.nn.modules._parameters import ParameterDict, ParameterList, named_items  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module, _addindent  # noqa: F401


class Container(Module):
    """The oldest of them: modules as keyword arguments."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


def place(index, size, who):
    """Return a place from 0 for an index that may be negative, or raise IndexError."""
    index = operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"{who}: index {index} is out of range, expected {-size} to {size - 1}")
    return index % size


class _Ordered(Module):
    """Modules under the names 0, 1, 2, ...: what Sequential and ModuleList share."""

    def _key(self, index):
        """Return the name of the module at a place."""
        return next(islice(self._modules, place(index, len(self), type(self).__name__), None))

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        for key in list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules):
        self._modules = OrderedDict((str(number), module) for number, module in enumerate(modules))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module):
        """Add a module at the end; returns this one."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Ordered):
    """Modules that are called one after the other.

    Parameters
    ----------
    *args : Module
        The modules, or one OrderedDict of them.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> model(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    >>> model[1]
    ReLU()

    """

    def __init__(self, *args):
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else ((str(number), item) for number, item in enumerate(args)):
            self.add_module(name, module)

    def _get_item_by_idx(self, iterator, idx):
        return next(islice(iterator, place(idx, len(self), type(self).__name__), None))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __delitem__(self, index):
        super().__delitem__(index)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential: got {type(other)} to add, expected a Sequential")
        return Sequential().extend([*self, *other])

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential: got {type(other)} to add, expected a Sequential")
        return self.extend(other)

    def _repeated(self, count):
        """Return the modules as often as a factor says."""
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {type(self)}")
        return [*self] * count

    def __mul__(self, count):
        return Sequential().extend(self._repeated(count))

    __rmul__ = __mul__

    def __imul__(self, count):
        return self.extend(self._repeated(count)[len(self):])

    def forward(self, input):
        """Return what the last module makes of what those before it made of the input."""
        for module in self._modules.values():
            input = module(input)
        return input

    def insert(self, index, module):
        """Put a module before a place; returns this one."""
        if not isinstance(module, AnyModule):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + size if index < 0 else index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Add modules at the end; returns this one."""
        for module in list(sequential):
            self.append(module)
        return self


class ModuleList(_Ordered):
    """A list of modules.

    Parameters
    ----------
    modules : Iterable[Module], optional
        The modules.

    Examples
    --------
    >>> layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
    >>> x = torch.zeros(2, 4)
    >>> for layer in layers:
    ...     x = layer(x)
    >>> len(layers), x.shape
    (3, torch.Size([2, 4]))

    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _get_abs_string_index(self, idx):
        return str(place(idx, len(self), type(self).__name__))

    def _key(self, index):
        return self._get_abs_string_index(index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._get_abs_string_index(index)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        made = ModuleList()
        for number, module in enumerate((*self, *other)):
            made.add_module(str(number), module)
        return made

    def __repr__(self):
        """Show equal modules that follow each other once, with their number."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        lines, start = [], 0
        for end in range(1, len(texts) + 1):
            if end == len(texts) or texts[end] != texts[start]:
                line = f"({start}): {texts[start]}"
                if end - start > 1:
                    line = f"({start}-{end - 1}): {end - start} x {texts[start]}"
                lines.append(_addindent(line, 2))
                start = end
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def insert(self, index, module):
        """Put a module before a place."""
        modules = list(self)
        modules.insert(index, module)
        for number, item in enumerate(modules):
            self._modules[str(number)] = item

    def extend(self, modules):
        """Add modules at the end; returns this one."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for number, module in enumerate(list(modules), len(self)):
            self.add_module(str(number), module)
        return self


class ModuleDict(Module):
    """Modules by name, in the order in which they came.

    Parameters
    ----------
    modules : Union[Mapping[str, Module], Iterable[Tuple[str, Module]]], optional
        The modules.

    Examples
    --------
    >>> heads = nn.ModuleDict({"cat": nn.Linear(4, 1), "dog": nn.Linear(4, 1)})
    >>> list(heads)
    ['cat', 'dog']
    >>> heads["dog"](torch.zeros(2, 4)).shape
    torch.Size([2, 1])

    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def __or__(self, other):
        made = ModuleDict(self.items())
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def clear(self):
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key):
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """Return the names."""
        return self._modules.keys()

    def items(self):
        """Return pairs of names and modules."""
        return self._modules.items()

    def values(self):
        """Return the modules."""
        return self._modules.values()

    def update(self, modules):
        """Add modules by name, in place of those of the same names."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(f"ModuleDict.update: got {type(modules).__name__}, expected a mapping or pairs of names "
                            "and modules")
        for name, module in named_items(modules, "ModuleDict"):
            self[name] = module
