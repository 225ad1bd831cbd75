"""What NVIDIA's management library tells: load, warmth, power; the package `pynvml` speaks to it."""
from dragon.vm.torch.core.nvidia.presence import number

SM_CLOCK, DIE = 1, 0  # which clock, and which thermometer


def load():
    """Return the package, ready to be asked; raise unless it is installed."""
    try:
        import pynvml
    except ImportError as error:
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed or it can't be imported; pip install "
                                  "nvidia-ml-py has it.") from error
    pynvml.nvmlInit()
    return pynvml


def _ask(name, device, *args):
    """Ask about a device by the name that the library has for the question."""
    library = load()
    return getattr(library, name)(library.nvmlDeviceGetHandleByIndex(number(device)), *args)


def utilization(device=None):
    """Return for how many percent of the last second the device computed."""
    return _ask("nvmlDeviceGetUtilizationRates", device).gpu


def memory_usage(device=None):
    """Return for how many percent of the last second the device's memory was read or written."""
    return _ask("nvmlDeviceGetUtilizationRates", device).memory


def device_memory_used(device=None):
    """Return how many bytes of the device's memory are in use, by whomever."""
    return _ask("nvmlDeviceGetMemoryInfo", device).used


def temperature(device=None):
    """Return how warm the device is, in degrees Celsius."""
    return _ask("nvmlDeviceGetTemperature", device, DIE)


def power_draw(device=None):
    """Return the power that the device draws, in milliwatts."""
    return _ask("nvmlDeviceGetPowerUsage", device)


def clock_rate(device=None):
    """Return the speed of the device's processors, in megahertz."""
    return _ask("nvmlDeviceGetClockInfo", device, SM_CLOCK)


def list_gpu_processes(device=None):
    """Return a line for each process that computes on the device, with its memory, as one text."""
    try:
        found = _ask("nvmlDeviceGetComputeRunningProcesses", device)
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    lines = [f"process {each.pid:>10d} uses {each.usedGpuMemory / 2 ** 20:>12.3f} MB GPU memory" for each in found]
    return "\n".join([f"GPU:{number(device)}", *(lines or ["no processes are running"])])
