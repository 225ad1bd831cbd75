"""Names of DALI's compiled half that programs ask for."""
from dragon.vm.dali.core.refusals import absent as _absent
from dragon.vm.dali.core.schema import OPERATORS as _OPERATORS
from dragon.vm.dali.tensors import TensorCPU, TensorListCPU


def RegisteredCPUOps():
    """Return the names of the operators there are, as DALI's compiled half spells them."""
    return sorted("__".join([*name.split(".")[:-1], operator.class_name]) for name, operator in _OPERATORS.items()
                  if not name.rpartition(".")[2].startswith("_"))


def RegisteredGPUOps():
    """Return nothing: pipelines run on the host."""
    return []


def GetCUDADeviceCount():
    """Return 0: pipelines run on the host."""
    return 0


class TensorGPU:
    """What lies on a device: there is none for pipelines."""

    def __init__(self, *arguments, **options):
        raise _absent("TensorGPU", "pipelines run on the host; TensorCPU holds arrays")


class TensorListGPU:
    """A batch on a device: there is none for pipelines."""

    def __init__(self, *arguments, **options):
        raise _absent("TensorListGPU", "pipelines run on the host; TensorListCPU holds batches")
