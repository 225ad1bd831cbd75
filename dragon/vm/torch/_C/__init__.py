"""Names that libraries take from PyTorch's compiled module, where Dragon has the thing under a name of its own."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.core.device import as_device, device
from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.functions.random import Generator
from dragon.vm.torch.core.layout import layout, memory_format, qscheme
from dragon.vm.torch.core.dispatching.mode_stack import (  # noqa: F401
    _DisableTorchDispatch, _disabled_torch_dispatch_impl)
from dragon.vm.torch.core.overrides import (DisableTorchFunction, DisableTorchFunctionSubclass,
                                            _disabled_torch_function_impl)
from dragon.vm.torch.core.nvidia import settings
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor
from dragon.core import config, modes

TensorBase = _TensorBase = Tensor
NoneType = type(None)
_has_mps = _has_xpu = has_mkldnn = False


class _TensorMeta(type(Tensor)):
    """The class of `Tensor`, for those who derive classes of classes from it."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance)


def _log_api_usage_once(event):
    """Do nothing: nothing is logged."""


def is_grad_enabled():
    """Return whether what is computed is recorded."""
    return modes.is_recording()


def _get_default_device():
    """Return the type of the device where tensors are made."""
    return as_device(None).type


def _is_tracing():
    """Return whether calls are being traced, which they never are."""
    return False


def _get_tracing_state():
    """Return the state of the trace; there is none."""


def _are_functorch_transforms_active():
    """Return False: `vmap` calls functions slice by slice, with ordinary tensors."""
    return False


def _get_privateuse1_backend_name():
    """Return the name of a device kind that others may add; there is none but PyTorch's default name."""
    return "privateuseone"


def _get_accelerator(check=None):
    """Return the accelerator's device, the CPU if there is none."""
    return device("cuda" if config.device_count("cuda") else "cpu")


def _cuda_getDeviceCount():
    """Return how many CUDA devices there are."""
    return config.device_count("cuda")


def _accelerator_setAllocatorSettings(env):
    """Set what PYTORCH_ALLOC_CONF would."""
    settings.apply(env)


# Types of PyTorch's compiler that libraries write into annotations.
absent.fill(globals(), "_C", ("TensorType*", "Value*", "Graph*", "Node*", "ScriptMethod*", "ScriptObject*"))
