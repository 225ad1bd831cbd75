"""Mixed precision on the CPU, the old way to say it."""
from dragon.vm.torch import amp


class autocast(amp.autocast):
    """`torch.amp.autocast` for the CPU."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`torch.amp.GradScaler` for the CPU."""

    def __init__(self, init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        super().__init__("cpu", init_scale=init_scale, growth_factor=growth_factor, backoff_factor=backoff_factor,
                         growth_interval=growth_interval, enabled=enabled)
