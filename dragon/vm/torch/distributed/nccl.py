"""Groups whose tensors on CUDA devices NCCL carries: whether it is there, what may be chosen, and who carries what."""
from datetime import timedelta

from dragon.core import config, groups
from dragon.vm.torch.distributed.groups import Backend
from dragon.vm.torch.distributed.options import BackendConfig

_CHOICES = {"cga_cluster_size": "cluster_size", "min_ctas": "least_blocks", "max_ctas": "most_blocks",
            "net_name": "net_name"}


def is_available():
    """Return whether there are CUDA devices, and NCCL's library."""
    return bool(config.device_count("cuda")) and groups.collectives_version("cuda") > 0


class NCCLConfig:
    """What a communicator of NCCL's may be told: None leaves it to NCCL."""

    def __init__(self):
        self.blocking = self.cga_cluster_size = self.min_ctas = self.max_ctas = self.net_name = None
        self.split_share = None


class Options:
    """Choices for a group whose tensors NCCL carries.

    Parameters
    ----------
    is_high_priority_stream : bool, optional, default=False
        Whether collectives that are not waited for go before other work of the device.

    """

    def __init__(self, is_high_priority_stream=False):
        self.is_high_priority_stream = bool(is_high_priority_stream)
        self.config = NCCLConfig()
        self._timeout, self.backend, self.group_name, self.global_ranks_in_group = timedelta(minutes=10), "nccl", "", []
        self.split_from, self.split_color = None, 0


class ProcessGroupNCCL:
    """The backend of groups whose tensors on CUDA devices NCCL carries; `init_process_group` makes groups of it."""

    Options, NCCLConfig = Options, NCCLConfig

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("ProcessGroupNCCL: got a call of the backend itself, expected init_process_group or "
                                  "new_group with the backend 'nccl'")


def backend_map(backend):
    """Return the name of the backend of each kind of device, as a word for groups says; None stands for all there are.

    Parameters
    ----------
    backend : str, optional
        A name, or pairs as in "cpu:gloo,cuda:nccl".

    Returns
    -------
    Dict[str, Backend]
        The names by kinds of devices.

    """
    if backend is None or backend == Backend.UNDEFINED:
        found = {"cpu": Backend(Backend.GLOO)}
        return {**found, "cuda": Backend(Backend.NCCL)} if is_available() else found
    return BackendConfig(backend).get_device_backend_map()


def require(names):
    """Raise where NCCL is wanted, there are CUDA devices, and the library is missing."""
    if Backend.NCCL in names and config.device_count("cuda") and not is_available():
        raise RuntimeError("init_process_group: got the backend 'nccl' and no libnccl.so.2, expected NCCL: `pip "
                           "install nvidia-nccl-cu13`, or DRAGON_CUDA_LIBRARIES=folder/that/holds/it")


def serve(core, backends, options=None):
    """Have a group's tensors carried by those that its backends name.

    Parameters
    ----------
    core : dragon.distributed.group.ProcessGroup
        The group.
    backends : Dict[str, Backend]
        The names by kinds of devices.
    options : Options, optional
        Choices for NCCL.

    """
    if not config.device_count("cuda"):
        return  # processes without devices share memory, whatever the name
    if options is not None and not isinstance(options, Options):
        raise TypeError(f"pg_options: got {type(options).__name__}, expected ProcessGroupNCCL.Options")
    core.serve("cpu", "host" if backends.get("cpu", Backend.NCCL) != Backend.NCCL else "nobody")
    name = backends.get("cuda")
    if name != Backend.NCCL:
        core.serve("cuda", "nobody" if name is None else "host")
        return
    chosen = {} if options is None else {ours: getattr(options.config, theirs) for theirs, ours in _CHOICES.items()
                                         if getattr(options.config, theirs) is not None}
    core.serve("cuda", "device", -1 if options is not None and options.is_high_priority_stream else 0, **chosen)
