"""Tools beside the framework: `torch.utils`."""
from dragon.vm.torch.core.missing import module_getattr

_SUBMODULES = frozenset("""
    backend_registration backcompat benchmark bottleneck bundled_inputs checkpoint collect_env cpp_extension data
    deterministic dlpack file_baton flop_counter hooks mobile_optimizer model_zoo module_tracker show_pickle
    serialization tensorboard throughput_benchmark viz weak _contextlib _device _foreach_utils _import_utils
    _python_dispatch _pytree _stats _triton _typing_utils _cxx_pytree _mode_utils _sympy _ordered_set
""".split())
# Names that come from submodules, likewise.
_LATER = {"swap_tensors": "swapping", "set_module": "swapping"}
__getattr__ = module_getattr("torch.utils", globals(), _SUBMODULES, _LATER)
