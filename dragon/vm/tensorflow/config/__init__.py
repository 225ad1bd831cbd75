"""`tf.config`: devices, threads, and whether functions run as graphs."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.tensors.devices import (  # noqa: F401
    LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice, get_logical_device_configuration,
    get_soft_device_placement, get_visible_devices, list_logical_devices, list_physical_devices,
    set_logical_device_configuration, set_soft_device_placement, set_visible_devices)
from dragon.vm.shared.recording import function as _function


def run_functions_eagerly(run_eagerly):
    """Have `tf.function`s run as plain Python, or as graphs again."""
    _function.eagerly[0] = bool(run_eagerly)


def functions_run_eagerly():
    """Return whether `tf.function`s run as plain Python."""
    return _function.eagerly[0]


experimental_run_functions_eagerly, experimental_functions_run_eagerly = run_functions_eagerly, functions_run_eagerly

__getattr__, __dir__ = _lookup(globals(), {
    "core.connecting": "experimental_connect_to_cluster experimental_connect_to_host"})
