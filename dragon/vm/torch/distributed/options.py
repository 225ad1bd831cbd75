"""Choices for collectives, which a backend is given: values that say so; and which backend serves which device."""
import enum
from datetime import timedelta

from dragon.vm.torch.distributed.groups import Backend, ReduceOp

_UNSET = timedelta(milliseconds=-1)
# What each kind of collective may be told beside a timeout, and whether others may go on before it is done.
_TOLD = {
    "AllToAllOptions": {}, "AllreduceOptions": {"reduceOp": ReduceOp.SUM},
    "AllreduceCoalescedOptions": {"reduceOp": ReduceOp.SUM}, "BarrierOptions": {"device_ids": (), "device": None},
    "BroadcastOptions": {"rootRank": 0, "rootTensor": 0}, "GatherOptions": {"rootRank": 0},
    "ReduceOptions": {"reduceOp": ReduceOp.SUM, "rootRank": 0, "rootTensor": 0},
    "ReduceScatterOptions": {"reduceOp": ReduceOp.SUM}, "ScatterOptions": {"rootRank": 0},
}


def _make(name, told):
    def __init__(self):
        self.timeout, self.asyncOp = _UNSET, True
        for key, value in told.items():
            setattr(self, key, list(value) if isinstance(value, tuple) else value)
    kind = name.removesuffix("Options").lower()
    return type(name, (), {"__init__": __init__, "__slots__": ("timeout", "asyncOp", *told), "__module__":
                           "torch.distributed.distributed_c10d", "__doc__": f"Choices for the collective `{kind}`."})


globals().update((name, _make(name, told)) for name, told in _TOLD.items())


class BuiltinCommHookType(enum.Enum):
    """Ways to exchange gradients that need no function of the user's."""

    ALLREDUCE = 1
    FP16_COMPRESS = 2


class BackendConfig:
    """The backend of each kind of device, as "gloo" or "cpu:gloo,cuda:nccl" tells.

    Parameters
    ----------
    backend : Union[Backend, str]
        The name of one for all devices, or pairs of a device and a name.

    """

    def __init__(self, backend):
        self.device_backend_map = {}
        if backend == Backend.UNDEFINED:
            self.device_backend_map = {"cpu": Backend(Backend.GLOO)}
        elif ":" not in backend:
            name = Backend(backend)
            self.device_backend_map = {kind: name for kind in _SERVED.get(name, ("cpu", "cuda"))}
        else:
            for pair in backend.lower().split(","):
                kind, *names = pair.split(":")
                if len(names) != 1:
                    raise ValueError(f"Invalid device:backend pairing: got {pair!r} in {backend!r}, expected "
                                     "'<device>:<backend>', as in 'cpu:gloo,cuda:nccl'")
                if kind in self.device_backend_map:
                    raise ValueError(f"Duplicate device type {kind} in backend string: got {backend!r}, expected each "
                                     "device once")
                self.device_backend_map[kind] = Backend(names[0])

    def __repr__(self):
        return ",".join(f"{kind}:{name}" for kind, name in self.device_backend_map.items())

    def get_device_backend_map(self):
        """Return the name of the backend of each kind of device."""
        return self.device_backend_map


_SERVED = {"nccl": ("cuda",), "xccl": ("xpu",), "fake": ("cpu", "cuda", "hpu", "xpu")}
