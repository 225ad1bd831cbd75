"""The places where tensors live: device objects, and the device that creation takes when none is named."""
import threading

_local = threading.local()


class Device:
    """A kind of device and its index.

    Parameters
    ----------
    type : str
        "cpu", "cuda", "meta" or "fake", or with an index as in "cuda:1"; a Device is copied.
    index : int, optional
        Which one of that kind.

    """

    __slots__ = ("type", "index")

    def __init__(self, type, index=None):
        if isinstance(type, Device):
            type, index = type.type, type.index if index is None else index
        if not isinstance(type, str):
            raise TypeError(f"Device: got {type!r} for argument 'type', expected a str such as 'cpu' or 'cuda:1'")
        name, colon, number = type.partition(":")
        if name not in ("cpu", "cuda", "meta", "fake"):
            raise ValueError(f"Device: got {type!r}, expected 'cpu', 'cuda', 'cuda:<index>', 'meta' or 'fake'")
        if colon and (index is not None or not number.isdecimal()):
            raise ValueError(f"Device: got {type!r} and index {index!r}, expected one non-negative index")
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", int(number) if colon else int(index or 0))

    def __setattr__(self, name, value):
        raise AttributeError(f"Device: got a new value for '{name}', expected none: devices do not change")

    def __reduce__(self):
        return Device, (self.type, self.index)

    def __eq__(self, other):
        if isinstance(other, str):
            other = Device(other)
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.type in ("cpu", "meta") else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"dragon.Device({str(self)!r})"


CPU = Device("cpu")


def current_device():
    """Return the device that creation takes when none is named."""
    stack = getattr(_local, "stack", None)
    return stack[-1] if stack else CPU


class device:
    """Name the device of new tensors within a `with` block, for this thread.

    Parameters
    ----------
    where : Union[str, Device]
        The device.

    Examples
    --------
    >>> with dragon.device("meta"):
    ...     x = dragon.zeros((1000, 1000))

    """

    def __init__(self, where):
        self.where = Device(where)

    def __enter__(self):
        if not hasattr(_local, "stack"):
            _local.stack = []
        _local.stack.append(self.where)
        return self.where

    def __exit__(self, *_):
        _local.stack.pop()
