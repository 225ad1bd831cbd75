"""Intel's GPUs, of which Dragon has none."""
from dragon.vm.torch.core.accelerators import fill

default_generators = ()


def _refuse(name):
    return AssertionError(f"Torch not compiled with XPU enabled: torch.xpu.{name} needs a device that Dragon does not "
                          "have; ask torch.xpu.is_available() first")


def _lazy_call(callable, **kwargs):
    """Call nothing: no device will be there later."""


fill(globals(), "torch.xpu", _refuse, """
    _lazy_init init synchronize current_device set_device current_stream get_device_capability get_device_name
    get_device_properties get_rng_state initial_seed mem_get_info get_stream_from_external
    reset_accumulated_memory_stats reset_peak_memory_stats set_per_process_memory_fraction
    get_per_process_memory_fraction can_device_access_peer
""", "Stream Event device device_of stream StreamContext MemPool XPUGraph graph")
