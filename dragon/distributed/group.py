"""Processes that do things together."""
import atexit
import contextvars
import os
import weakref

from dragon.core import groups
from dragon.core.scopes import contextmanager
from dragon.distributed.errors import DistributedError
from dragon.distributed.machine import machine, name
from dragon.distributed.work import Runner

SHEET_BYTES = 512 << 10  # of what a rank shows the others at once
_default = contextvars.ContextVar("the group of this context", default=None)
_groups = weakref.WeakSet()


class ProcessGroup:
    """Processes that reduce, gather and exchange tensors.

    Parameters
    ----------
    store : Store
        Where they meet; all have the same, under keys that nobody else uses.
    rank : int
        This process's number in the group.
    size : int
        How many there are.
    timeout : float, optional, default=1800
        Seconds to wait for the others, at the beginning and in each call; negative for ever.
    ranks : Sequence[int], optional
        The members' numbers in the world; 0, 1, 2... by default.
    sheet_bytes : int, optional
        How much a rank shows the others at once; it takes three times that of shared memory.
    carry : Callable[[List[int], float], object], optional
        Where processes are on several machines: given the members' numbers and the timeout, returns what carries their
        bytes, such as `dragon.distributed.mpi.Carrier`. Those of one machine share memory.

    """

    def __init__(self, store, rank, size, timeout=1800.0, ranks=None, sheet_bytes=SHEET_BYTES, carry=None):
        if not 0 <= rank < size:
            raise ValueError(f"ProcessGroup: got rank {rank} of {size} processes, expected 0 to {size - 1}")
        self.rank, self.size, self.timeout, self.store = rank, size, timeout, store
        self.ranks = list(range(size)) if ranks is None else list(ranks)
        self.process = os.getpid()  # a fork of it is no member
        self.carry, self._carrier = carry, None
        self.number = self._meet(sheet_bytes) if carry is None else self._begin_carrying()
        self.runner = Runner(self.number)
        self.services = {}
        self.begun = None  # what a block has begun that waits at its end
        self.serve("cuda", "device")
        _groups.add(self)

    def serve(self, device, service, priority=0, **options):
        """Say who carries tensors of a kind of device.

        Parameters
        ----------
        device : str
            The kind: "cpu" or "cuda".
        service : str
            "host": the host, to whose memory tensors of devices are copied; "device": the device's own library, NCCL;
            "nobody".
        priority : int, optional, default=0
            Of the stream on which collectives go that are not waited for; below 0 they go before other work.
        **options
            Choices of NCCL's: cluster_size, least_blocks, most_blocks and net_name.

        """
        groups.serve(self.number, device, service, float(self.timeout), **options)
        self.services[device] = service
        if device == "cuda":
            self.runner.by_device, self.runner.priority = service == "device", priority

    def set_timeout(self, seconds):
        """Wait so many seconds for the others from the next call on; negative for ever."""
        groups.set_timeout(self.number, float(seconds))
        self.timeout = seconds

    def _begin_carrying(self):
        """Join the others by what carries bytes between machines."""
        self._carrier = self.carry(self.ranks, float(self.timeout))
        if (self._carrier.rank, self._carrier.size) != (self.rank, self.size):
            raise DistributedError(f"ProcessGroup: got rank {self.rank} of {self.size} for a process that is "
                                   f"{self._carrier.rank} of {self._carrier.size} for what carries its bytes, expected "
                                   "the same")
        return groups.make_carried(self._carrier)

    def _meet(self, sheet_bytes):
        """Join the others over shared memory; the first one makes it."""
        store, seconds, mine = self.store, self.timeout if self.timeout >= 0 else 1e9, None
        count = groups.bytes_of(self.size, sheet_bytes)  # all raise, before anybody waits, where sheets are too small
        if self.rank == 0:
            mine = os.memfd_create("dragon world", os.MFD_CLOEXEC)
            os.posix_fallocate(mine, 0, count)
        if self.rank == 0 and self.size > 1:
            store.set("memory", f"{machine()}|/proc/{os.getpid()}/fd/{mine}")
        try:
            file = mine if mine is not None else self._find(seconds)
            try:
                # Returns once all have joined.
                return groups.make(file, self.rank, self.size, sheet_bytes, float(self.timeout))
            finally:
                if file != mine:
                    os.close(file)
        finally:
            if mine is not None:
                os.close(mine)

    def _find(self, seconds):
        """Return the memory that the first one has made."""
        self.store.wait(["memory"], seconds)
        other, _, place = self.store.get("memory").decode().partition("|")
        if other != machine():
            raise DistributedError(f"ProcessGroup: got rank 0 on the machine {other.split()[0]!r} and rank {self.rank} "
                                   f"on {name()!r}, expected one machine, or `carry`: between machines MPI carries "
                                   "what is said")
        try:
            return os.open(place, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise DistributedError(f"ProcessGroup: got no shared memory of rank 0 ({error}), expected its process to "
                                   "be there, of the same user: has it ended?") from None

    def barrier(self, device=None):
        """Return once all ranks have called this, and a device of each has done its work."""
        groups.barrier(self.number, device)

    def post_all(self, messages):
        """Begin several messages, each (tensor, rank, tag, whether it goes out), in whichever order they can go."""
        return groups.post_messages(messages, self.number)

    def post(self, tensor, rank, tag, goes_out):
        """Begin to send a tensor in row-major order to a rank, or to receive one from it (-1: from anybody)."""
        return groups.post_message(tensor, self.number, rank, tag, goes_out)

    def close(self):
        """Leave the group; calls of it raise from then on."""
        if self.number is not None:
            self.runner.close()
            groups.remove(self.number)
            self.number = None
            if self._carrier is not None:
                self._carrier.close()

    @contextmanager
    def as_default(self):
        """Have what is done in a `with` block be done by this group where no other is named.

        Optimizers of PyTorch's and Keras's faces average gradients over it before they use them.
        """
        token = _default.set(self)
        try:
            yield self
        finally:
            _default.reset(token)


def default_group():
    """Return the group that is meant where none is named; None if there is none."""
    return _default.get()


@atexit.register
def _leave_all():
    """Leave all groups while tensors on their way are still there."""
    for group in list(_groups):
        group.close()
