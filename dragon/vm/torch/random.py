"""The default stream of random numbers, and leaving it as it was: `torch.random`."""

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.vm import torch
from dragon.vm.torch.core.functions.random import (Generator, get_rng_state, initial_seed, manual_seed, seed,
                                                   set_rng_state)

default_generator = torch.default_generator
_MANY = 1  # more devices than this, and copying their states is worth a warning


@contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Give the default stream, and those of devices, back their states after a `with` block.

    Parameters
    ----------
    devices : Iterable, optional
        Which devices' streams; all of the type by default. The CPU's always is.
    enabled : bool, optional, default=True
        Whether to do so at all.
    device_type : str, optional, default="cuda"
        The type of the devices.

    """
    if device_type == "meta" or not enabled:
        yield
        return
    module = getattr(torch, device_type or "cuda", None)
    if module is None:
        raise RuntimeError(f"torch has no module of `{device_type}`, expected a device type such as 'cuda'")
    if devices is None:
        devices = list(range(module.device_count())) if (device_type or "cuda") != "cpu" else []
        if len(devices) > _MANY:
            warnings.warn(f"{_caller}: the states of {len(devices)} devices are kept; name fewer with {_devices_kw}=")
    devices = list(devices)
    state, states = get_rng_state(), [module.get_rng_state(device) for device in devices]
    try:
        yield
    finally:
        set_rng_state(state)
        for device, kept in zip(devices, states):
            module.set_rng_state(kept, device)


def thread_safe_generator():
    """Return the generator of a loader's worker, if it is a thread; None elsewhere, for the default one."""
    from dragon.vm.torch.utils.data._utils.worker import get_worker_info
    worker = get_worker_info()
    return worker.rng if worker is not None and worker.worker_method == "thread" else None
