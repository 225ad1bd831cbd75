"""Mixed precision on CUDA devices, the old way to say it; `torch.amp` is the new one."""
import functools

from dragon.core import warnings
from dragon.vm.torch import amp


def _say(old, new):
    warnings.warn(f"`torch.cuda.amp.{old}` is deprecated. Please use `torch.amp.{new}` instead.", FutureWarning)


class autocast(amp.autocast):
    """`torch.amp.autocast` for CUDA devices."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _say("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`torch.amp.GradScaler` for CUDA devices."""

    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        _say("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale=init_scale, growth_factor=growth_factor, backoff_factor=backoff_factor,
                         growth_interval=growth_interval, enabled=enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """Decorate the forward of a `torch.autograd.Function`; see `torch.amp.custom_fwd`."""
    _say("custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """Decorate the backward of a `torch.autograd.Function`; see `torch.amp.custom_bwd`."""
    _say("custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")
