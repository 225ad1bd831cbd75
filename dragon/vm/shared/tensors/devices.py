"""The devices there are, which of them are used, and where new tensors go."""
import collections

from dragon.core import config
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors import placing
from dragon.vm.shared.tensors.device import Device, ENGINE, PREFIX, parse_device

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
PhysicalDevice.__doc__ = "A device of the machine."
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
LogicalDevice.__doc__ = "A device that programs name."
_hidden = set()
_cut = {}  # by the name of a device, how those that it was cut into are used
_soft_placement = [True]


class LogicalDeviceConfiguration:
    """The way in which a device is used.

    Parameters
    ----------
    memory_limit : int, optional
        Megabytes that may be taken.
    experimental_priority, experimental_device_ordinal : int, optional
        Must be None.

    """

    def __init__(self, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        if experimental_priority is not None or experimental_device_ordinal is not None:
            raise NotImplementedError("LogicalDeviceConfiguration: only memory_limit is supported. Received: "
                                      f"experimental_priority={experimental_priority}, "
                                      f"experimental_device_ordinal={experimental_device_ordinal}")
        self.memory_limit = memory_limit


def list_physical_devices(device_type=None):
    """Return the machine's devices of a kind ("CPU", "GPU"), or all."""
    found = [PhysicalDevice(f"/physical_device:{kind}:{index}", kind) for kind in ("CPU", "GPU")
             for index in range(1 if kind == "CPU" else config.device_count(ENGINE[kind]))]
    return [item for item in found if device_type in (None, item.device_type)]


def list_logical_devices(device_type=None):
    """Return the devices that programs name, of a kind or all."""
    kinds = [item.device_type for item in list_physical_devices(device_type) if item.name not in _hidden
             for _ in _cut.get(item.name, (None,))]
    return [LogicalDevice(f"/device:{kind}:{kinds[:number].count(kind)}", kind) for number, kind in enumerate(kinds)]


def get_visible_devices(device_type=None):
    """Return the machine's devices that are used."""
    return [item for item in list_physical_devices(device_type) if item.name not in _hidden]


def set_visible_devices(devices, device_type=None):
    """Use only some of the machine's devices.

    Parameters
    ----------
    devices : Union[PhysicalDevice, Sequence[PhysicalDevice]]
        Those to be used.
    device_type : str, optional
        The kind of which others are hidden; all by default.

    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    known = list_physical_devices()
    for item in wanted:
        if item not in known:
            raise ValueError(f"Unrecognized device: {item!r}")
    for item in known:
        if device_type in (None, item.device_type):
            (_hidden.discard if item in wanted else _hidden.add)(item.name)
    gpus = _gpus()
    placing.set_usual_device(Device("cuda", gpus[0]) if gpus else placing.CPU)


def get_soft_device_placement():
    """Return whether the CPU stands in for devices that are missing."""
    return _soft_placement[0]


def set_soft_device_placement(enabled):
    """Have the CPU stand in for devices that are missing, or not."""
    _soft_placement[0] = bool(enabled)


def _check_device(device):
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_logical_device_configuration(device):
    """Return how those are used that a device was cut into, or None."""
    return _cut.get(_check_device(device).name)


def set_logical_device_configuration(device, logical_devices):
    """Cut a device into several, which share it and its memory, and limit how much they take together.

    Parameters
    ----------
    device : PhysicalDevice
        The device.
    logical_devices : List[LogicalDeviceConfiguration]
        How each one of the several is used.

    """
    _check_device(device)
    if not logical_devices or not all(isinstance(item, LogicalDeviceConfiguration) for item in logical_devices):
        raise ValueError(f"set_logical_device_configuration: got {logical_devices!r}, expected one or more "
                         "LogicalDeviceConfiguration")
    limits = [item.memory_limit for item in logical_devices]
    if any(limit is None for limit in limits) and any(limit is not None for limit in limits):
        raise ValueError(f"set_logical_device_configuration: got the limits {limits}, expected one for each or none")
    _cut[device.name] = list(logical_devices)
    if limits[0] is not None:
        kind, index = device.name.split(":")[1:]
        config.set_memory_limit(sum(map(int, limits)) << 20, "cpu" if kind == "CPU" else f"cuda:{index}")


def _gpus():
    """Return the engine's number of each GPU that programs name."""
    return [int(item.name.rsplit(":", 1)[-1]) for item in get_visible_devices("GPU")
            for _ in _cut.get(item.name, (None,))]


def found_device(where):
    """Return the Device of the engine for one that programs name, or None where there is none."""
    if where.type == "cuda":
        gpus = _gpus()
        return Device("cuda", gpus[where.index]) if 0 <= where.index < len(gpus) else None
    if where.type == "cpu":
        return Device("cpu") if 0 <= where.index < len(list_logical_devices("CPU")) else None
    count = {"meta": 1, "fake": config.device_count("fake")}.get(where.type, 0)
    return where if 0 <= where.index < count else None


def engine_device(device_name):
    """Return the Device of the engine that a name stands for, or None where it names no kind.

    Parameters
    ----------
    device_name : Union[str, LogicalDevice, Device, None]
        A name such as "/GPU:0"; of a device that is missing, the usual one stands in, if that is allowed.

    """
    where = parse_device(getattr(device_name, "name", device_name))
    if where is None:
        return None
    found = found_device(where)
    if found is not None:
        return found
    if where.index < 0:
        raise invalid_argument(f"Malformed device specification '{where}'")
    if not _soft_placement[0]:
        known = list_logical_devices()
        kinds = ", ".join(sorted({item.device_type for item in known}, key="GPU CPU".index))
        raise invalid_argument(
            f"Could not satisfy device specification '{where}'. enable_soft_placement=0. Supported device types "
            f"[{kinds}]. All available devices [{', '.join(PREFIX[:-8] + item.name for item in known)}].")
    return placing.usual_device()


def device(device_name):
    """Name the device of new tensors and of calls within a `with` block.

    Parameters
    ----------
    device_name : Optional[str]
        Such as "/GPU:0", "gpu:1" or "CPU"; None leaves the choice as if nobody had named one.

    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
    return _Named(device_name)


class _Named:
    """A block with a device of its own; it may be entered several times, and its name is looked up then."""

    def __init__(self, device_name):
        self._name, self._scopes = device_name, []

    def __enter__(self):
        where = engine_device(self._name)
        outer = placing.named_devices()
        if where is None and self._name is not None and outer:
            where = outer[-1]
        scope = placing.within(where)
        scope.__enter__()
        self._scopes.append(scope)

    def __exit__(self, *_):
        self._scopes.pop().__exit__()
