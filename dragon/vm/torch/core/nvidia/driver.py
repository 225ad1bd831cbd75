"""What CUDA's driver tells of devices: names, sizes, abilities; the engine asks it for memory and kernels alone."""
import contextlib
import ctypes
import functools
import uuid

from dragon.vm.torch.core.nvidia.presence import number

LIBRARY = "libcuda.so.1"
NAME_BYTES = 256
# The numbers by which the driver knows what it is asked.
ATTRIBUTES = {
    "max_threads_per_block": 1, "shared_memory_per_block": 8, "warp_size": 10, "clock_rate": 13,
    "multi_processor_count": 16, "is_integrated": 18, "pci_bus_id": 33, "pci_device_id": 34, "memory_clock_rate": 36,
    "memory_bus_width": 37, "L2_cache_size": 38, "max_threads_per_multi_processor": 39, "pci_domain_id": 50,
    "major": 75, "minor": 76, "shared_memory_per_multiprocessor": 81, "regs_per_multiprocessor": 82,
    "is_multi_gpu_board": 84, "shared_memory_per_block_optin": 97,
}


class DeviceProperties:
    """What a CUDA device is: `name`, `total_memory`, `uuid`, and the numbers in `driver.ATTRIBUTES`."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 2 ** 20}MB, multi_processor_count={self.multi_processor_count}, "
                f"uuid={self.uuid}, L2_cache_size={self.L2_cache_size // 2 ** 20}MB)")


DeviceProperties.__name__ = DeviceProperties.__qualname__ = "_CudaDeviceProperties"
DeviceProperties.__module__ = "torch.cuda"


@functools.cache
def load():
    """Return the driver, ready to be asked."""
    driver = ctypes.CDLL(LIBRARY)
    ask(driver.cuInit, 0)
    return driver


def ask(function, *args):
    """Call a function of the driver; raise what it answers with unless that is 0."""
    code = function(*args)
    if code:
        raise RuntimeError(f"CUDA driver: got error {code} from {getattr(function, '__name__', function)}, expected 0")


def _handle(driver, index):
    handle = ctypes.c_int()
    ask(driver.cuDeviceGet, ctypes.byref(handle), index)
    return handle


@functools.cache
def _properties(index):
    driver = load()
    device, found, answer = _handle(driver, index), {}, ctypes.c_int()
    for name, code in ATTRIBUTES.items():
        ask(driver.cuDeviceGetAttribute, ctypes.byref(answer), code, device)
        found[name] = answer.value
    text, size, identity = ctypes.create_string_buffer(NAME_BYTES), ctypes.c_size_t(), (ctypes.c_ubyte * 16)()
    ask(driver.cuDeviceGetName, text, NAME_BYTES, device)
    ask(driver.cuDeviceTotalMem_v2, ctypes.byref(size), device)
    ask(driver.cuDeviceGetUuid, identity, device)
    return DeviceProperties(**found, name=text.value.decode(), total_memory=size.value,
                            uuid=uuid.UUID(bytes=bytes(identity)))


def properties(device=None):
    """Return what a device is."""
    return _properties(number(device))


@contextlib.contextmanager
def _context(driver, index):
    """Have the device's own context be this thread's."""
    device, context = _handle(driver, index), ctypes.c_void_p()
    ask(driver.cuDevicePrimaryCtxRetain, ctypes.byref(context), device)
    ask(driver.cuCtxPushCurrent_v2, context)
    try:
        yield
    finally:
        ask(driver.cuCtxPopCurrent_v2, ctypes.byref(context))
        ask(driver.cuDevicePrimaryCtxRelease_v2, device)


def memory(device=None):
    """Return how many bytes of a device are free, and how many it has."""
    driver, free, total = load(), ctypes.c_size_t(), ctypes.c_size_t()
    with _context(driver, number(device)):
        ask(driver.cuMemGetInfo_v2, ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def reaches(device, peer):
    """Return whether a device can read another one's memory."""
    driver, answer = load(), ctypes.c_int()
    ask(driver.cuDeviceCanAccessPeer, ctypes.byref(answer), _handle(driver, number(device)),
        _handle(driver, number(peer)))
    return bool(answer.value)
