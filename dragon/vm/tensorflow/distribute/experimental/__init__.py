"""`tf.distribute.experimental`: older names of strategies, and how processes speak to each other."""
import collections
import enum

from dragon.vm.shared.letters import expect
from dragon.vm.tensorflow.core.flow.mirrored import (  # noqa: F401
    CentralStorageStrategy, MultiWorkerMirroredStrategy as _MultiWorkerMirroredStrategy)
from dragon.vm.tensorflow.core.flow.strategies import TPUStrategy, ValueContext  # noqa: F401
from dragon.vm.tensorflow.core.servers.strategy import ParameterServerStrategy  # noqa: F401


class CommunicationImplementation(enum.Enum):
    """What carries values between processes; here it is always shared memory."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions(collections.namedtuple("CommunicationOptions", (
        "bytes_per_pack", "timeout_seconds", "implementation"))):
    """How values go from process to process.

    Parameters
    ----------
    bytes_per_pack : int, optional, default=0
        How large a pack of small values may be; each goes by itself here.
    timeout_seconds : float, optional
        Accepted: a process that ends is told at once.
    implementation : CommunicationImplementation, optional, default=AUTO
        What carries them; it is always shared memory here.

    """

    def __new__(cls, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO):
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        expect(implementation, CommunicationImplementation, "CommunicationOptions", "implementation")
        return super().__new__(cls, bytes_per_pack, timeout_seconds, implementation)


class MultiWorkerMirroredStrategy(_MultiWorkerMirroredStrategy):
    """The older name, with an older argument; see `tf.distribute.MultiWorkerMirroredStrategy`.

    Parameters
    ----------
    communication : CommunicationImplementation, optional
        What carries values.
    cluster_resolver : ClusterResolver, optional
        Which processes there are.

    """

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))
