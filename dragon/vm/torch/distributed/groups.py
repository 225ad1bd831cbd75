"""Groups of processes, what they have begun, and the ways to reduce."""
import enum

_world = {"default": None, "count": 0}
_pg_map = {}  # each group with its backend and store; libraries look a group up here


class DistError(RuntimeError):
    """Something went wrong among processes."""


class DistBackendError(DistError):
    """Something went wrong in a backend."""


class DistNetworkError(DistError):
    """Something went wrong in the network."""


class DistStoreError(DistError):
    """Something went wrong in a store."""


class QueueEmptyError(DistStoreError):
    """A store's queue has nothing."""


class DebugLevel(enum.Enum):
    """How much is said of what processes do."""

    OFF = 0
    INFO = 1
    DETAIL = 2


class Backend(str):
    """A backend's name in lower case."""

    UNDEFINED, GLOO, NCCL, MPI, UCC, XCCL = "undefined", "gloo", "nccl", "mpi", "ucc", "xccl"
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {type(name).__name__}")
        return super().__new__(cls, name.lower())


_REDUCTIONS = {"SUM": "sum", "AVG": "average", "PRODUCT": "product", "MIN": "minimum", "MAX": "maximum", "BAND": "and",
               "BOR": "or", "BXOR": "xor"}  # what the engine calls them


class ReduceOp:
    """The ways to make one of several processes' values."""

    class RedOpType(int):
        """One of the ways."""

        factor = None  # by which values are multiplied first

        def __new__(cls, name, number):
            made = super().__new__(cls, number)
            made.name, made.reduction = name, _REDUCTIONS.get(name)
            return made

        def __repr__(self):
            return f"<RedOpType.{self.name}: {int(self)}>"

        __str__ = __repr__


for _number, _name in enumerate("SUM AVG PRODUCT MIN MAX BAND BOR BXOR PREMUL_SUM".split()):
    _way = ReduceOp.RedOpType(_name, _number)
    setattr(ReduceOp, _name, _way)
    setattr(ReduceOp.RedOpType, _name, _way)


def _premultiplied(factor):
    """Return the sum of values that are multiplied by a factor first."""
    made = ReduceOp.RedOpType("PREMUL_SUM", int(ReduceOp.PREMUL_SUM))
    made.factor = factor
    return made


class Work:
    """Something that a group has begun.

    Parameters
    ----------
    work : dragon.distributed.work.Work
        What tells whether it is done.

    """

    def __init__(self, work):
        self._work = work

    def wait(self, timeout=None):
        """Wait until it is done; raise what went wrong. Returns True."""
        seconds = None if timeout is None else timeout.total_seconds()
        self._work.wait(seconds if seconds else None)
        return True

    def is_completed(self):
        """Return whether it is done."""
        return self._work.is_done()

    def is_success(self):
        """Return whether it is done, and nothing went wrong."""
        return self._work.is_done() and self._work.error is None

    def exception(self):
        """Return what went wrong; None if nothing did."""
        return self._work.error

    def result(self):
        """Return the tensors."""
        return self._work.result

    def synchronize(self):
        """Wait until it is done."""
        self.wait()

    def get_future(self):
        """Return a future of the tensors."""
        from dragon.vm.torch.futures import Future
        future = Future()

        def finish(work):
            if work.error is None:
                future.set_result(work.result)
            else:
                future.set_exception(work.error)
        self._work.then(finish)
        return future


class ProcessGroup:
    """Processes that do things together.

    Parameters
    ----------
    core : dragon.distributed.group.ProcessGroup
        What carries their tensors.
    backend : str
        The name that it was asked for under.
    name : str
        Its own name.
    description : str, optional
        What it is for.
    store : Store, optional
        Where its processes met.
    backends : Dict[str, Backend], optional
        The name of the backend of each kind of device.
    device : torch.device, optional
        The one that belongs to the group.

    """

    def __init__(self, core, backend="gloo", name="0", description=None, store=None, backends=None, device=None):
        self._core, self._store = core, store
        self._backends, self._device = backends or {"cpu": Backend(backend)}, device
        self._backend, self.group_name, self.group_desc = Backend(backend), name, description or "undefined"
        self._serial = 0  # of messages of objects

    def rank(self):
        """Return this process's number in the group."""
        return self._core.rank

    def size(self):
        """Return how many processes there are."""
        return self._core.size

    def name(self):
        """Return the backend's name."""
        return str(self._backend)

    def get_group_store(self):
        """Return where its processes met."""
        return self._store

    @property
    def bound_device_id(self):
        """torch.device: the one that belongs to the group; None if there is none."""
        return self._device

    @bound_device_id.setter
    def bound_device_id(self, device):
        self._device = device


class GroupMember:
    """Stand-ins for groups: the default one, and one that this process is not in."""

    WORLD = None
    NON_GROUP_MEMBER = -100


class _GroupType(type):
    WORLD = property(lambda cls: _world["default"], doc="The default group; None before there is one.")


class group(metaclass=_GroupType):
    """The default group, under its usual name."""


class P2POp:
    """A send or receive for `batch_isend_irecv`."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer, self.group_peer = peer, group_peer
