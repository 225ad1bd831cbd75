"""`tf.config.experimental`: memory of devices, and exactness."""
from dragon.core import config as _config
from dragon.vm.shared.tensors.devices import (  # noqa: F401
    LogicalDeviceConfiguration as VirtualDeviceConfiguration, _check_device, get_visible_devices,
    get_logical_device_configuration as get_virtual_device_configuration, list_logical_devices, list_physical_devices,
    set_logical_device_configuration as set_virtual_device_configuration, set_visible_devices)
from dragon.vm.shared.tensors.device import parse_device as _parse_device


def get_memory_growth(device):
    """Return True: memory is taken as it is needed."""
    _check_device(device)
    return True


def set_memory_growth(device, enable):
    """Accept that memory is taken as it is needed; nothing else is possible."""
    _check_device(device)


def _stats(device):
    where = _parse_device(device)
    if where is None:
        raise ValueError(f"Failed parsing device name. Received: {device!r}")
    return _config.memory_stats(where)


def get_memory_info(device):
    """Return the bytes in use now ("current") and at most ("peak") on a device."""
    stats = _stats(device)
    return {"current": stats["current"], "peak": stats["peak"]} if isinstance(stats, dict) else {
        "current": stats[0], "peak": stats[1]}


def get_memory_usage(device):
    """Return the bytes in use on a device."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Begin anew to note the most bytes in use on a device."""
    _config.reset_peak_memory(_parse_device(device))


def get_device_details(device):
    """Return what is known of a device."""
    _check_device(device)
    return {}


def enable_op_determinism():
    """Accept: on the CPU, equal calls give equal results anyway."""
    if _config.device_count("cuda"):
        raise NotImplementedError("tf.config.experimental.enable_op_determinism: not supported where there is a GPU")


def tensor_float_32_execution_enabled():
    """Return False: products of float32 are exact."""
    return False


def enable_tensor_float_32_execution(enabled):
    """Refuse to compute products of float32 with fewer digits."""
    if enabled:
        raise NotImplementedError("TensorFloat-32 is not supported. Received: enabled=True")
