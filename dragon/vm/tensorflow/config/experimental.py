"""`tf.config.experimental`: memory of devices, and exactness."""
from dragon.core import config as _config
from dragon.vm.shared.tensors.devices import (  # noqa: F401
    LogicalDeviceConfiguration as VirtualDeviceConfiguration, _check_device, found_device as _found_device,
    get_logical_device_configuration as get_virtual_device_configuration, get_visible_devices, list_logical_devices,
    list_physical_devices, set_logical_device_configuration as set_virtual_device_configuration, set_visible_devices)
from dragon.vm.shared.tensors.device import parse_device as _parse_device
from dragon.vm.shared.tensors.placing import default_device as _default_device


def get_memory_growth(device):
    """Return True: memory is taken as it is needed."""
    _check_gpu(device)
    return True


def set_memory_growth(device, enable):
    """Accept that memory is taken as it is needed; nothing else is possible."""
    _check_gpu(device)


def _check_gpu(device):
    """Raise a ValueError for what is no GPU."""
    if _check_device(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def _place_of(device):
    """Return the engine's name of the device whose memory is asked for."""
    try:
        where = _parse_device(device)
    except ValueError:
        where = None
    if where is None:
        raise ValueError(f"Failed parsing device name: '{device}'. Note a valid device string should at least contain "
                         'a device type and a device index, like "GPU:0".')
    place = _found_device(where)
    if place is None:
        raise ValueError(f"No matching devices found for '{device}'")
    return place.engine_name


def _stats(device):
    return _config.memory_stats(_place_of(device))


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
    _config.reset_peak_memory(_place_of(device))


def get_device_details(device):
    """Return what is known of a device."""
    if _check_device(device).device_type != "GPU":
        return {}
    from dragon.core.accelerator import device_facts
    facts = device_facts(int(device.name.rsplit(":", 1)[-1]))
    return {"device_name": facts["name"], "compute_capability": (facts["major"], facts["minor"])}


def enable_op_determinism():
    """Accept: on the CPU, equal calls give equal results anyway; on a GPU, some gradients of images do not."""
    if _default_device().type == "cuda":
        raise NotImplementedError("tf.config.experimental.enable_op_determinism: not supported where there is a GPU: "
                                  "gradients of crops and of sampled images are added up in any order")


_rounds = [False]  # whether the program lets products round their operands


def tensor_float_32_execution_enabled():
    """Return whether a GPU's products of float32 round their operands to TensorFloat-32; the CPU's are exact."""
    return _rounds[0]


def enable_tensor_float_32_execution(enabled):
    """Say whether a GPU's products and convolutions of float32 may round their operands to TensorFloat-32."""
    if enabled and not _config.device_count("cuda"):
        raise NotImplementedError("TensorFloat-32 is not supported without a GPU. Received: enabled=True")
    _rounds[0] = bool(enabled)
    _config.set_allows_tf32(_rounds[0])
    _config.set_convolutions_allow_tf32(_rounds[0])
