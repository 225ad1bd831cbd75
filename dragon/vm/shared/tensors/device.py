"""Devices as TensorFlow names them: '/job:localhost/replica:0/task:0/device:CPU:0'."""
from dragon.core import config

PREFIX = "/job:localhost/replica:0/task:0/device:"
ENGINE = {"CPU": "cpu", "GPU": "cuda", "META": "meta", "FAKE": "fake"}
OURS = {engine: name for name, engine in ENGINE.items()}


class Device:
    """The place where a tensor lives: text to TensorFlow's users, a type and an index to the engine.

    Parameters
    ----------
    type : str
        The engine's name of the kind, such as "cpu" or "cuda".
    index : int, optional
        Which one of that kind.

    """

    __slots__ = ("type", "index", "text")

    def __init__(self, type, index=0):
        self.type, self.index = type, index or 0
        self.text = f"{PREFIX}{OURS.get(type, type.upper())}:{self.index}"

    def __str__(self):
        return self.text

    def __repr__(self):
        return repr(self.text)

    def __format__(self, spec):
        return format(self.text, spec)

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        if isinstance(other, Device):
            return self.text == other.text
        return isinstance(other, str) and other in (self.text, self.engine_name)

    def __contains__(self, part):
        return part in self.text

    def __len__(self):
        return len(self.text)

    def __add__(self, other):
        return self.text + other

    def __radd__(self, other):
        return other + self.text

    def __getitem__(self, key):
        return self.text[key]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.text, name)

    def __reduce__(self):
        return Device, (self.type, self.index)

    @property
    def engine_name(self):
        """str: the engine's name, such as "cuda:0"."""
        return self.type if self.type in ("cpu", "meta") else f"{self.type}:{self.index}"


def parse_device(text):
    """Return the Device that a name such as "/GPU:0", "gpu:1", "CPU" or the long form stands for.

    Parameters
    ----------
    text : Union[str, Device, None]
        The name; None and names without a kind stand for no choice.

    Returns
    -------
    Optional[Device]
        None where no kind is named.

    """
    if text is None or isinstance(text, Device):
        return text
    if not isinstance(text, str):
        where, index = getattr(text, "type", None), getattr(text, "index", None)
        if isinstance(where, str):
            return Device(where, index)
        raise ValueError(f"Expected a device name as a string. Received: {text!r}")
    for part in reversed(text.replace("/device:", "/").split("/")):
        kind, _, index = part.partition(":")
        if kind.upper() in ENGINE or kind in OURS:
            if index and not index.isdecimal() and index != "*":
                break
            return Device(ENGINE.get(kind.upper(), kind), int(index) if index.isdecimal() else 0)
        if part and kind not in ("job", "replica", "task"):
            break
    else:
        return None
    raise ValueError(f"Unknown attribute or malformed device specification string. Received: '{text}'")


def device_count(type):
    """Return how many devices of an engine's kind there are."""
    return config.device_count(type)
