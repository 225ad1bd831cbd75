"""Computing in half floats with weights in whole ones, under the names that Keras 2 had."""
from dragon.vm.keras.core.dtype_policies import DTypePolicy, dtype_policy, set_dtype_policy

Policy = DTypePolicy
global_policy, set_global_policy = dtype_policy, set_dtype_policy


def __getattr__(name):
    if name == "LossScaleOptimizer":
        from dragon.vm.keras.optimizers import LossScaleOptimizer
        return LossScaleOptimizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
