"""The front door of Dragon: tensors in NumPy's dialect, one autograd, one engine."""
try:
    from dragon import _C
except ImportError as error:
    from dragon.core.unbuilt import explain
    raise explain(error) from None
from dragon._C import EngineError, InvalidIndex, InvalidType, InvalidValue, LinAlgError, OutOfMemory, Unsupported
from dragon.core.capture.function import function
from dragon.core.config import (cpu_level, empty_cache, get_num_threads, load_library, memory_stats, reset_peak_memory,
                                set_default_dtype, set_memory_limit, set_num_threads, synchronize)
from dragon.core.device import Device, current_device, device
from dragon.core.custom_function import Function
from dragon.core.distribution import VERSION as __version__
from dragon.core.gradients import backward, grad
from dragon.core.graph import Graph
from dragon.core.profile import profile
from dragon.core.random import Generator, get_rng_state, manual_seed, set_rng_state
from dragon.core.modes import detect_anomaly, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from dragon.core.workspace import Workspace, current_workspace
from dragon.tensor import (Tensor, asarray, bfloat16, bool_, complex64, complex128, default_dtype, dtype, float16,
                           float32, float64, from_dlpack, from_numpy, int8, int16, int32, int64, tensor, uint8)
from dragon.creation import (arange, empty, empty_like, eye, full, full_like, linspace, logspace, ones, ones_like,
                             zeros, zeros_like)
from dragon.tape import GradientTape
from dragon.seeing import show, summary
from dragon import graph, losses, math, nn, ops, optimizers, random, seeing
