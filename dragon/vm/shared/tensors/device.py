"""Devices as TensorFlow names them: '/job:localhost/replica:0/task:0/device:CPU:0'."""
from dragon.core import config

PREFIX = "/job:localhost/replica:0/task:0/device:"
ENGINE = {"CPU": "cpu", "GPU": "cuda", "META": "meta", "FAKE": "fake"}
OURS = {engine: name for name, engine in ENGINE.items()}
PLACES = {"job": "localhost", "replica": 0, "task": 0}  # what names of this process's devices begin with


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
        None where no kind is named. It may be one that there is not.

    """
    if text is None or isinstance(text, Device):
        return text
    if not isinstance(text, str):
        where, index = getattr(text, "type", None), getattr(text, "index", None)
        if isinstance(where, str):
            return Device(where, index)
        raise ValueError(f"Expecting a string device name. Got {type(text)}({text})")
    found = None
    for part in filter(None, text.split("/")):
        words = part.split(":")
        if words[0] in PLACES and len(words) == 2:
            _check_place(words[0], words[1], text)
        elif words[0] == "device" and len(words) == 3:
            found = _kind_of(words[1], words[2])
        elif len(words) <= 2 and (words[0].upper() in ENGINE or words[0] in OURS):
            found = _kind_of(words[0], words[1] if len(words) == 2 else "*")
        else:
            raise ValueError(f"Unknown attribute '{words[0]}' is encountered while parsing the device spec: '{text}'.")
    return found


def _kind_of(kind, index):
    """Return the Device of a kind and a number, or "*" for the first one."""
    return Device(ENGINE.get(kind.upper(), kind.lower()), 0 if index == "*" else int(index))


def _check_place(part, value, text):
    """Raise an error for a process that is not this one."""
    if str(PLACES[part]) != (value if part == "job" else str(int(value))):
        from dragon.vm.shared.errors import invalid_argument
        raise invalid_argument(f"{text} unknown device.")


def device_count(type):
    """Return how many devices of an engine's kind there are."""
    return config.device_count(type)
