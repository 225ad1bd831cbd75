"""Devices under PyTorch's name, and the one that creation takes when none is named."""
import threading

from dragon import _C
from dragon.core import config

TYPES = ("cpu", "cuda", "meta", "fake")
FOREIGN = ("mps", "xpu", "xla", "hpu", "mtia", "ipu", "vulkan", "lazy", "privateuseone")


def _what_is_wrong(name, text):
    """Return what PyTorch says of a device string; libraries read the names of devices off it."""
    if not text:
        return "Device string must not be empty"
    if not name.isidentifier():
        return f"Invalid device string: '{text}'"
    known = ", ".join(dict.fromkeys((*TYPES, *FOREIGN)))
    return f"Expected one of {known} device type at start of device string: {name}"


class _Local(threading.local):
    """What a thread has of its own, before anything is set: guards of graphs read it at every call."""

    stack = None
    default = None


_local = _Local()


class device(_C.Scope):
    """The place where a tensor lives: a type and, for those that there may be several of, an index.

    Parameters
    ----------
    type : Union[str, int, device]
        "cpu", "cuda:1", "meta"; a number is the index of a CUDA device.
    index : int, optional
        Which one of that type.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     x = torch.zeros(1000, 1000)

    """

    __slots__ = ("type", "index")

    def __new__(cls, type="cpu", index=None):
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, got {type!r}; expected 'cpu' or 'cuda:1'")
        name, colon, number = type.partition(":")
        if name not in TYPES and name not in FOREIGN:
            raise RuntimeError(f"device: got device string {type!r}, expected one of those with an index. "
                               f"{_what_is_wrong(name, type)}")
        if colon and (index is not None or not number.isdecimal()):
            raise RuntimeError(f"device: expected one non-negative index. Invalid device string: '{type}'")
        self = super().__new__(cls)
        # The CPU and meta devices have no index unless one was named.
        index = int(number) if colon else index
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", index)
        return self

    @classmethod
    def of_engine(cls, type, index):
        """Return the device that the engine knows by type and index."""
        return cls(type, None if type in ("cpu", "meta") and index == 0 else index)

    def __setattr__(self, name, value):
        raise AttributeError(f"device: got a new value for '{name}', expected none: devices do not change")

    def __reduce__(self):
        return device, (self.type, self.index) if self.index is not None else (self.type,)

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def _enter_scope(self, exits):
        """Be the default device."""
        exits.callback(_tell_default)
        exits.push(_stack(), self)
        config.set_default_device(self)
        return self

    def __call__(self, function):
        """Return a function that runs with this device as the default one."""
        import functools

        @functools.wraps(function)
        def within(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return within


_device = device  # for a function that has an argument of this name


def _tell_default():
    config.set_default_device(default_device())


def _stack():
    """Return this thread's default devices, the innermost last."""
    if _local.stack is None:
        _local.stack = []
    return _local.stack


def default_device():
    """Return the device of new tensors for which none is named, or None for the CPU."""
    stack = _local.stack
    return stack[-1] if stack else _local.default


def set_default_device(device):
    """Set the device of new tensors, for this thread; None goes back to the CPU."""
    _local.default = None if device is None else _device(device)
    config.set_default_device(default_device())


def get_default_device():
    """Return the device of new tensors for which none is named."""
    return default_device() or device("cpu")


def as_device(where):
    """Return what a `device=` argument stands for: a device, a name, an index, or None for the default."""
    return (default_device() or device("cpu")) if where is None else device(where)


def device_count(type):
    """Return how many devices of a type there are."""
    return config.device_count(type)
