"""Modules that hold parameters in order or by name."""
import operator
from collections import OrderedDict
from collections.abc import Mapping

from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.modules._members import typename
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter

HOME = __name__.replace("._parameters", ".container")  # where PyTorch has them


def described(values, dtype_name):
    """Return a line for each of the values, as the classes here show themselves."""
    lines = []
    for key, value in values:
        if isinstance(value, Tensor):
            size = "x".join(map(str, value.shape))
            where = f" ({value.device})" if value.device.type == "cuda" else ""
            kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
            lines.append(f"  ({key}): {kind} containing: [{dtype_name(value)} of size {size}{where}]")
        else:
            lines.append(f"  ({key}): Object of type: {type(value).__name__}")
    return "\n".join(lines)


def _owned(value):
    """Return a tensor as a parameter, anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters; tensors become parameters, other values are kept as they are.

    Parameters
    ----------
    values : Iterable[Any], optional
        What it holds.

    """

    __module__ = HOME

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return str(idx % len(self))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(self[number] for number in range(*idx.indices(len(self))))
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, idx, param):
        setattr(self, self._get_abs_string_index(idx), _owned(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[number] for number in range(len(self))])

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Add a value at the end; returns the list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add values at the end; returns the list."""
        if not hasattr(values, "__iter__") or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        """Return the values' kinds and sizes as text."""
        return described(enumerate(self), lambda tensor: tensor.dtype)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name; tensors become parameters, other values are kept as they are.

    Parameters
    ----------
    parameters : Union[Mapping[str, Any], Iterable[Tuple[str, Any]]], optional
        What it holds.

    """

    __module__ = HOME

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError(f"Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._key_to_attr(key), _owned(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """Return another one with the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key, default=None):
        """Return the value of a name, which becomes the default if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Take a value out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Take the last name and its value out and return them."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key, default=None):
        """Return the value of a name, or the default."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """Return another one with these names, all of one value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """Return the names."""
        return self._keys.keys()

    def items(self):
        """Return an iterator over pairs of names and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """Return an iterator over the values."""
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Add values by name, in place of those of the same names."""
        if not hasattr(parameters, "__iter__"):
            raise TypeError("ParametersDict.update should be called with an iterable of key/value pairs, but got "
                            + type(parameters).__name__)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())  # plain dicts had no order when this was settled
        for key, value in named_items(parameters, "ParameterDict"):
            self[key] = value

    def extra_repr(self):
        """Return the values' kinds and sizes as text."""
        return described(self.items(), lambda tensor: tensor.type() if hasattr(tensor, "type") else typename(tensor))

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")


def named_items(items, who):
    """Yield pairs from a mapping or from an iterable of pairs."""
    if hasattr(items, "items"):
        yield from items.items()
        return
    for number, pair in enumerate(items):
        if not hasattr(pair, "__iter__"):
            raise TypeError(f"{who} update sequence element #{number} should be Iterable; is {type(pair).__name__}")
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{who} update sequence element #{number} has length {len(pair)}; 2 is required")
        yield tuple(pair)
