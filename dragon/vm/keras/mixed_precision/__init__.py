"""Computing in half floats with weights in whole ones, under the names that Keras 2 had."""
from dragon.vm.guest import lookup
from dragon.vm.keras.core.dtype_policies import DTypePolicy, dtype_policy, set_dtype_policy

Policy = DTypePolicy
global_policy, set_global_policy = dtype_policy, set_dtype_policy
__getattr__, __dir__ = lookup(globals(), {"optimizers": "LossScaleOptimizer"})
