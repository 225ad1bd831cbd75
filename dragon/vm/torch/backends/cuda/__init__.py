"""Switches of CUDA's libraries: they are kept, and nothing reads them on a CPU."""

from dragon.core import config, warnings
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.accelerators import count
from dragon.vm.torch.core.functions.settings import get_float32_matmul_precision, set_float32_matmul_precision


class cuBLASModule:
    """Switches of matrix products."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"

    @property
    def allow_tf32(self):
        """Whether single precision may lose digits, as `torch.set_float32_matmul_precision` says too."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed):
        set_float32_matmul_precision("high" if allowed else "highest")

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError("Unknown attribute " + name)
        super().__setattr__(name, value)

    def __getattr__(self, name):
        raise AttributeError("Unknown attribute " + name)


matmul = cuBLASModule()
_sdp = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True, "math_reduction": False}


def is_built():
    """Return whether the engine has CUDA."""
    return count("cuda") > 0


def _allow(**kinds):
    """Allow kinds of attention, or forbid them: the engine heeds the one that is cuDNN's."""
    _sdp.update(kinds)
    config.set_allows_vendor_attention(_sdp["cudnn"])


def _switch(name):
    def read():
        return _sdp[name]

    def write(enabled):
        _allow(**{name: bool(enabled)})
    read.__doc__ = f"Return whether attention of kind {name!r} is allowed on CUDA devices."
    write.__doc__ = f"Allow attention of kind {name!r} on CUDA devices, or forbid it."
    return read, write


flash_sdp_enabled, enable_flash_sdp = _switch("flash")
math_sdp_enabled, enable_math_sdp = _switch("math")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn")
fp16_bf16_reduction_math_sdp_allowed, allow_fp16_bf16_reduction_math_sdp = _switch("math_reduction")


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Allow some kinds of attention on CUDA devices within a `with` block; deprecated."""
    warnings.warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be "
                  "removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated "
                  "signature.", FutureWarning)
    former = dict(_sdp)
    _allow(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=bool(enable_cudnn))
    try:
        yield {}
    finally:
        _allow(**former)


def is_flash_attention_available():
    """Return False: there is no CUDA device."""
    return False


def can_use_flash_attention(params, debug=False):
    """Return False: there is no CUDA device."""
    return False


def can_use_efficient_attention(params, debug=False):
    """Return False: there is no CUDA device."""
    return False


def can_use_cudnn_attention(params, debug=False):
    """Return False: there is no CUDA device."""
    return False
