"""Meta's accelerators, of which Dragon has none."""
from dragon.vm.torch.core.accelerators import fill

default_generators = ()


def _refuse(name):
    return RuntimeError(f"Cannot execute {name}() without MTIA backend: Dragon has none; "
                        "ask torch.mtia.is_available() first")


fill(globals(), "torch.mtia", _refuse, """
    init synchronize current_device set_device current_stream default_stream get_device_capability
    get_device_properties get_rng_state initial_seed snapshot record_memory_history
""", "Event Stream device stream StreamContext MTIAGraph graph")
