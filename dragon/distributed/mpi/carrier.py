"""What the engine asks of a group whose bytes MPI carries."""
import ctypes
import functools

import numpy as np

from dragon.distributed import numbers, signature
from dragon.distributed.errors import DistributedError
from dragon.distributed.mpi.library import load
from dragon.distributed.mpi.messages import Message, await_request

MOST_BYTES = 1 << 28  # of a call of MPI, which counts with 31 bits


def told(method):
    """Have what MPI complains about raised as an error of Dragon's."""
    @functools.wraps(method)
    def call(self, *words):
        try:
            return method(self, *words)
        except self.mpi.Exception as error:
            raise DistributedError(f"{method.__name__}: MPI says {error.Get_error_string()!r}") from None
    return call


class Carrier:
    """The processes of a group, each of which makes one. All make the same calls in the same order.

    Parameters
    ----------
    ranks : Sequence[int]
        Their ranks among all that MPI has started.
    timeout : float
        Seconds to wait for the others in each call; negative for ever.
    watch : Watch, optional
        What tells which processes have left without a word.

    """

    def __init__(self, ranks, timeout, watch=None):
        self.mpi, self.ranks, self.watch = load(), list(ranks), watch
        world = self.mpi.COMM_WORLD
        self.timeout, self.broken, self.number = timeout, None, 0
        self.size = len(self.ranks)
        if self.ranks == list(range(world.size)):
            self.comm, request = world.Idup()
            self._await(request, "new group")
        else:
            self._meet(world)
            self.comm = world.Create_group(world.group.Incl(self.ranks))
        self.rank = self.comm.rank
        self._mine = np.zeros(signature.LENGTH, np.int64)
        self._all = np.zeros((self.size, signature.LENGTH), np.int64)

    def _meet(self, world):
        """Return once all members are about to make the group, for which MPI would wait for ever."""
        first, *others = self.ranks
        tag, nothing = world.Get_attr(self.mpi.TAG_UB), [bytearray(), self.mpi.BYTE]
        if world.rank != first:
            self._await(world.Isend(nothing, first, tag), "new group")
            self._await(world.Irecv(nothing, first, tag), "new group")
            return
        for begin in (world.Irecv, world.Isend):
            for request in [begin(nothing, other, tag) for other in others]:
                self._await(request, "new group")

    def close(self):
        """Let MPI forget the group."""
        if not self.mpi.Is_finalized() and self.broken is None:
            self.comm.Free()

    def agree(self, collective, reduction="", dtype="", count=0, root=-1):
        """Tell the others what is about to be done, and raise where they are about to do something else."""
        if self.broken is not None:
            raise DistributedError(f"process group: {self.broken}; the group is of no use any more, expected a new one")
        self.number += 1
        self._mine[:] = signature.sign(self.number, collective, reduction, dtype, count, root)
        self._await(self.comm.Iallgather(self._mine, self._all), collective)
        signature.compare(self.rank, self._all)

    def trouble(self):
        """Return why the group is of no use any more, as far as can be told at once; nothing if it is whole."""
        gone = [] if self.watch is None else self._gone()
        return self.broken or (f"rank {gone[0]} has ended" if gone else "")

    def _gone(self):
        return [self.ranks.index(rank) for rank in self.watch.gone() if rank in self.ranks]

    def _await(self, request, collective):
        """Wait for what has begun.

        Who is late is late for the first step, in which the memory is the group's own; of a later one nothing comes any
        more once somebody has raised. So nothing is written into memory that who raises lets go.
        """
        def late():
            self.broken = f"{collective}: got not all of {self.size} ranks within {self.timeout:g} seconds"
            return DistributedError(f"{self.broken}, expected each to call it; the group is of no use any more")

        def look():
            gone = self._gone()
            if gone:
                self.broken = f"{collective}: rank {gone[0]} has ended before it took part"
                raise DistributedError(f"{self.broken}, expected each to; the group is of no use any more")
        await_request(request, self.timeout, late, look if self.watch is not None else None)

    @told
    def all_reduce(self, given, result, dtype, reduction):
        """Write the reduction over all ranks into `result`, which may be `given`."""
        self.agree("all_reduce", reduction, dtype, len(given) // numbers.item_size(dtype))
        self._reduce("all_reduce", given, result, dtype, reduction)

    @told
    def reduce(self, given, result, dtype, reduction, root):
        """Write the reduction into the root's `result`."""
        self.agree("reduce", reduction, dtype, len(given) // numbers.item_size(dtype), root)
        target = result if self.rank == root else memoryview(bytearray(len(given)))
        self._reduce("reduce", given, target, dtype, reduction)

    def _reduce(self, collective, given, result, dtype, reduction):
        for begin in range(0, len(given), MOST_BYTES):
            part, into = given[begin:begin + MOST_BYTES], result[begin:begin + MOST_BYTES]
            if not numbers.is_foldable(dtype, reduction):
                numbers.fold(self._gather_all(collective, part), into, dtype, reduction)
                continue
            kind, operation = (getattr(self.mpi, name) for name in numbers.operation(dtype, reduction))
            count = len(part) // numbers.item_size(dtype)
            source = self.mpi.IN_PLACE if given is result else [part, count, kind]
            self._await(self.comm.Iallreduce(source, [into, count, kind], operation), collective)
            numbers.finish(into, dtype, reduction, self.size)

    def _gather_all(self, collective, part):
        """Return the bytes of all ranks."""
        found = bytearray(len(part) * self.size)
        self._await(self.comm.Iallgather([bytes(part), self.mpi.BYTE], [found, len(part), self.mpi.BYTE]), collective)
        return [memoryview(found)[at * len(part):(at + 1) * len(part)] for at in range(self.size)]

    @told
    def broadcast(self, data, dtype, root):
        """Write the root's bytes on all ranks."""
        self.agree("broadcast", "", dtype, len(data), root)
        for begin in range(0, len(data), MOST_BYTES):
            self._await(self.comm.Ibcast([data[begin:begin + MOST_BYTES], self.mpi.BYTE], root), "broadcast")

    @told
    def all_gather(self, given, results, dtype):
        """Write each rank's bytes into its place of `results`."""
        self.agree("all_gather", "", dtype, len(given))
        with Row(results) as row:
            self._await(self.comm.Iallgather([given, self.mpi.BYTE], [row.memory, len(given), self.mpi.BYTE]),
                        "all_gather")

    @told
    def gather(self, given, results, dtype, root):
        """Write each rank's bytes into its place of the root's `results`."""
        self.agree("gather", "", dtype, len(given), root)
        with Row(results) as row:
            target = [row.memory, len(given), self.mpi.BYTE] if self.rank == root else None
            self._await(self.comm.Igather([given, self.mpi.BYTE], target, root), "gather")

    @told
    def scatter(self, parts, result, dtype, root):
        """Write this rank's part of the root's into `result`."""
        self.agree("scatter", "", dtype, len(result), root)
        source = [b"".join(parts), len(result), self.mpi.BYTE] if self.rank == root else None
        self._await(self.comm.Iscatter(source, [result, self.mpi.BYTE], root), "scatter")

    @told
    def reduce_scatter(self, parts, result, dtype, reduction):
        """Write the reduction of the parts that all have for this rank."""
        self.agree("reduce_scatter", reduction, dtype, len(result) // numbers.item_size(dtype))
        whole = b"".join(parts)
        if not numbers.is_foldable(dtype, reduction):
            found = bytearray(len(whole))
            self._await(self.comm.Ialltoall([whole, len(result), self.mpi.BYTE], [found, len(result), self.mpi.BYTE]),
                        "reduce_scatter")
            size = len(result)
            numbers.fold([memoryview(found)[at * size:(at + 1) * size] for at in range(self.size)], result, dtype,
                         reduction)
            return
        kind, operation = (getattr(self.mpi, name) for name in numbers.operation(dtype, reduction))
        count = len(result) // numbers.item_size(dtype)
        self._await(self.comm.Ireduce_scatter_block([whole, count, kind], [result, count, kind], operation),
                    "reduce_scatter")
        numbers.finish(result, dtype, reduction, self.size)

    @told
    def all_to_all(self, parts, results):
        """Write what each rank has for this one; what one sends has to be what the other wants."""
        self.agree("all_to_all")
        mine = np.array([[len(part) for part in parts], [len(result) for result in results]], np.int64)
        every = np.zeros((self.size, 2, self.size), np.int64)
        self._await(self.comm.Iallgather(mine, every), "all_to_all")
        sends, wants = every[:, 0], every[:, 1].T
        if (sends != wants).any():
            one, other = map(int, np.argwhere(sends != wants)[0])
            raise DistributedError(f"all_to_all: got {sends[one, other]} bytes of rank {one} for rank {other}, which "
                                   f"wants {wants[one, other]}, expected as many")
        with Row(results) as row:
            self._await(self.comm.Ialltoallv([b"".join(parts), mine[0].tolist(), self.mpi.BYTE],
                                             [row.memory, mine[1].tolist(), self.mpi.BYTE]), "all_to_all")

    @told
    def barrier(self):
        """Return once all ranks have called this."""
        self.agree("barrier")

    @told
    def send(self, data, to, tag):
        """Begin to send; the engine's own messages have the tag None."""
        copy = bytes(data)
        return Message(self.comm.Isend([copy, self.mpi.BYTE], self._known(to, "send"), self._tag(tag)), copy, to, tag,
                       False, self._look)

    @told
    def receive(self, data, source, tag):
        """Begin to receive, of any rank if it is -1."""
        rank = self.mpi.ANY_SOURCE if source == -1 else self._known(source, "receive")
        request = self.comm.Irecv([data, self.mpi.BYTE], rank, self._tag(tag))
        return Message(request, data, source, tag, True, self._look)

    def _look(self, source, goes_out):
        """Raise if who should take a message, or send it, has left; anybody is there as long as somebody is."""
        if self.watch is None:
            return
        others = [source] if source >= 0 else [at for at in range(self.size) if at != self.rank]
        if others and all(self.ranks[at] in self.watch.gone() for at in others):
            raise DistributedError(f"{'send' if goes_out else 'receive'}: rank {others[0]} has ended, expected it to "
                                   f"{'take' if goes_out else 'send'} the message")

    def _known(self, rank, who):
        if not 0 <= rank < self.size:
            raise ValueError(f"{who}: got rank {rank}, expected one of the group's, 0 to {self.size - 1}")
        return rank

    def _tag(self, tag):
        own = self.comm.Get_attr(self.mpi.TAG_UB)
        if tag is None:
            return own
        if not 0 <= tag < own:
            raise ValueError(f"message: got the tag {tag}, expected 0 to {own - 1}, as MPI has it")
        return tag

    def give_up(self, why):
        """End all processes: MPI knows no other way to let those know who wait."""
        print(f"dragon: rank {self.rank} gives up: {why}", flush=True)
        self.comm.Abort(1)


class Row:
    """Places of equal or other sizes as one piece of memory: themselves where they follow each other, or a copy."""

    def __init__(self, places):
        self.places = places
        begins = [address(place) for place in places]
        total = sum(map(len, places))
        self.is_whole = all(one + len(place) == other for one, place, other in zip(begins, places, begins[1:]))
        self.memory = ((ctypes.c_char * total).from_address(begins[0]) if self.is_whole and total else bytearray(total))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and not self.is_whole:
            begin, memory = 0, memoryview(self.memory)
            for place in self.places:
                place[:] = memory[begin:begin + len(place)]
                begin += len(place)


def address(memory):
    """Return where memory begins."""
    return np.frombuffer(memory, np.uint8).ctypes.data if len(memory) else 0
