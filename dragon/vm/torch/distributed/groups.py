"""The objects of a world of one: groups, the work that is done, the ways to reduce."""
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


class ReduceOp:
    """The ways to make one of several processes' values; of one process, each leaves the value as it is."""

    class RedOpType(int):
        """One of the ways."""

        def __new__(cls, name, number):
            made = super().__new__(cls, number)
            made.name = name
            return made

        def __repr__(self):
            return f"<RedOpType.{self.name}: {int(self)}>"

        __str__ = __repr__


for _number, _name in enumerate("SUM AVG PRODUCT MIN MAX BAND BOR BXOR PREMUL_SUM".split()):
    _way = ReduceOp.RedOpType(_name, _number)
    setattr(ReduceOp, _name, _way)
    setattr(ReduceOp.RedOpType, _name, _way)


class Work:
    """A collective that has been done when its call returned."""

    def __init__(self, result=None):
        self._result = result

    def wait(self, timeout=None):
        """Return True: it is done."""
        return True

    def is_completed(self):
        """Return True."""
        return True

    def is_success(self):
        """Return True."""
        return True

    def result(self):
        """Return the tensors."""
        return self._result

    def synchronize(self):
        """Do nothing: it is done."""


class ProcessGroup:
    """A group of one process.

    Parameters
    ----------
    backend : str
        The name that it was asked for under.
    name : str
        Its own name.
    description : str, optional
        What it is for.

    """

    def __init__(self, backend="gloo", name="0", description=None):
        self._backend, self.group_name, self.group_desc = Backend(backend), name, description or "undefined"

    def rank(self):
        """Return 0."""
        return 0

    def size(self):
        """Return 1."""
        return 1

    def name(self):
        """Return the backend's name."""
        return str(self._backend)


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
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
