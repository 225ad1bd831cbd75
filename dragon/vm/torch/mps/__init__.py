"""Apple's GPUs, of which Dragon has none."""
from dragon.vm.torch.core.accelerators import ANSWERS, absent_class, answer, refusal


def _refuse(name):
    return RuntimeError(f"Cannot execute {name}() without MPS backend: Dragon has none; "
                        "ask torch.backends.mps.is_available() first")


for _name in ("is_available", "device_count", "manual_seed", "_is_in_bad_fork"):
    globals()[_name] = answer(_name, ANSWERS[_name])
for _name in """
    empty_cache synchronize get_rng_state set_rng_state seed set_per_process_memory_fraction current_allocated_memory
    driver_allocated_memory recommended_max_memory compile_shader load_metallib
""".split():
    globals()[_name] = refusal(_name, _refuse)
Event = absent_class("Event", "torch.mps", _refuse)
