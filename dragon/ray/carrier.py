"""What the engine asks of a group whose bytes Ray carries: workers on several machines."""
from dragon.distributed import numbers, signature
from dragon.distributed.errors import DistributedError, StoreTimeout
from dragon.ray.library import ray

SMALL_BYTES = 64 << 10  # reduced by each rank at once; what is larger, in parts by one rank each
_made = {}  # {ranks of a group: how many this process has made of them}


class Carrier:
    """The processes of a group, each of which makes one. All make the same calls in the same order.

    Parameters
    ----------
    post : ray.actor.ActorHandle
        Where they leave what is for others.
    me : int
        This one's number in the world.
    ranks : Sequence[int]
        The members' numbers in the world.
    timeout : float
        Seconds to wait for the others in each call; negative for ever.

    """

    def __init__(self, post, me, ranks, timeout):
        key = tuple(ranks)
        _made[key] = _made.get(key, 0) + 1
        self.post, self.timeout, self.name = post, timeout, (key, _made[key])
        self.rank, self.size, self.number, self.round, self.broken = key.index(me), len(key), 0, 0, None

    def close(self):
        """Forget the group; what is left at the post goes with it."""

    def trouble(self):
        """Return why the group is of no use any more; nothing if it is whole."""
        return self.broken or ""

    def exchange(self, what, parcel):
        """Return what all ranks have given, each of them anything that can be pickled."""
        if self.broken is not None:
            raise DistributedError(f"process group: {self.broken}; the group is of no use any more, expected a new one")
        self.round += 1
        # In a list a reference stays one: bytes go from machine to machine, and not by the post.
        there, references = ray.get(self.post.exchange.remote(self.name, self.round, self.rank, self.size,
                                                              [ray.put(parcel)], self.timeout))
        if there is not None:
            absent = [rank for rank in range(self.size) if rank not in there]
            self.broken = f"{what}: got nothing of {'rank' if len(absent) == 1 else 'ranks'} " \
                          f"{', '.join(map(str, absent))} within {self.timeout:g} seconds"
            raise DistributedError(f"{self.broken}, expected each to call it; the group is of no use any more")
        return ray.get([reference for reference, in references])

    def swap(self, collective, parcel, reduction="", dtype="", count=0, root=-1):
        """Return what all ranks have for a collective, which all have to mean."""
        self.number += 1
        mine = signature.sign(self.number, collective, reduction, dtype, count, root)
        came = self.exchange(collective, (mine, parcel))
        signature.compare(self.rank, [signed for signed, _ in came])
        return [parcel for _, parcel in came]

    def all_reduce(self, given, result, dtype, reduction):
        """Write the reduction over all ranks into `result`, which may be `given`."""
        count = len(given) // numbers.item_size(dtype)
        if len(given) <= SMALL_BYTES:
            numbers.fold(self.swap("all_reduce", bytes(given), reduction, dtype, count), result, dtype, reduction)
            return
        bounds = [count * rank // self.size * numbers.item_size(dtype) for rank in range(self.size + 1)]
        parts = [ray.put(bytes(given[begin:end])) for begin, end in zip(bounds, bounds[1:])]
        came = self.swap("all_reduce", parts, reduction, dtype, count)
        mine = bytearray(bounds[self.rank + 1] - bounds[self.rank])
        numbers.fold(ray.get([theirs[self.rank] for theirs in came]), mine, dtype, reduction)
        for begin, part in zip(bounds, self.exchange("all_reduce", bytes(mine))):
            result[begin:begin + len(part)] = part

    def reduce(self, given, result, dtype, reduction, root):
        """Write the reduction into the root's `result`."""
        came = self.swap("reduce", bytes(given), reduction, dtype, len(given) // numbers.item_size(dtype), root)
        if self.rank == root:
            numbers.fold(came, result, dtype, reduction)

    def broadcast(self, data, dtype, root):
        """Write the root's bytes on all ranks."""
        came = self.swap("broadcast", bytes(data) if self.rank == root else b"", "", dtype, len(data), root)
        if self.rank != root:
            data[:] = came[root]

    def all_gather(self, given, results, dtype):
        """Write each rank's bytes into its place of `results`."""
        for result, part in zip(results, self.swap("all_gather", bytes(given), "", dtype, len(given))):
            result[:] = part

    def gather(self, given, results, dtype, root):
        """Write each rank's bytes into its place of the root's `results`."""
        came = self.swap("gather", ray.put(bytes(given)), "", dtype, len(given), root)
        for result, part in zip(results, ray.get(came) if self.rank == root else ()):
            result[:] = part

    def scatter(self, parts, result, dtype, root):
        """Write this rank's part of the root's into `result`."""
        came = self.swap("scatter", [ray.put(bytes(part)) for part in parts], "", dtype, len(result), root)
        result[:] = ray.get(came[root][self.rank])

    def reduce_scatter(self, parts, result, dtype, reduction):
        """Write the reduction of the parts that all have for this rank."""
        came = self.swap("reduce_scatter", [ray.put(bytes(part)) for part in parts], reduction, dtype,
                         len(result) // numbers.item_size(dtype))
        numbers.fold(ray.get([theirs[self.rank] for theirs in came]), result, dtype, reduction)

    def all_to_all(self, parts, results):
        """Write what each rank has for this one; what one sends has to be what the other wants."""
        came = self.swap("all_to_all", ([len(part) for part in parts], [len(result) for result in results],
                                        [ray.put(bytes(part)) for part in parts]))
        for one, (sends, _, _) in enumerate(came):
            for other, (_, wants, _) in enumerate(came):
                if sends[other] != wants[one]:
                    raise DistributedError(f"all_to_all: got {sends[other]} bytes of rank {one} for rank {other}, "
                                           f"which wants {wants[one]}, expected as many")
        for result, part in zip(results, ray.get([theirs[self.rank] for _, _, theirs in came])):
            result[:] = part

    def barrier(self):
        """Return once all ranks have called this."""
        self.swap("barrier", None)

    def send(self, data, to, tag):
        """Begin to send; the engine's own messages have the tag None."""
        reference = self.post.send.remote(self.name, self.rank, self._known(to, "send"), tag, [ray.put(bytes(data))])
        return Message(reference, data, to, tag, False)

    def receive(self, data, source, tag):
        """Begin to receive, of any rank if it is -1."""
        rank = source if source == -1 else self._known(source, "receive")
        return Message(self.post.receive.remote(self.name, rank, self.rank, tag), data, source, tag, True)

    def _known(self, rank, who):
        if not 0 <= rank < self.size:
            raise ValueError(f"{who}: got rank {rank}, expected one of the group's, 0 to {self.size - 1}")
        return rank

    def give_up(self, why):
        """Leave: others hear of it when they have waited for long enough."""
        self.broken = why


class Message:
    """A message on its way: a call of the post, and what is to be filled."""

    def __init__(self, call, memory, rank, tag, comes_in):
        self.call, self.memory, self.rank, self.tag, self.comes_in = call, memory, rank, tag, comes_in

    def is_done(self):
        """Return whether it is at the post, or has come."""
        if self.call is not None and ray.wait([self.call], timeout=0)[0]:
            self._end()
        return self.call is None

    def wait(self, seconds):
        """Wait until it is; negative seconds are no limit."""
        if self.call is None:
            return
        if not ray.wait([self.call], timeout=seconds if seconds >= 0 else None)[0]:
            raise StoreTimeout(f"message: got none {'from' if self.comes_in else 'taken for'} "
                               f"{'any rank' if self.rank < 0 else f'rank {self.rank}'} with the tag {self.tag} "
                               f"within {seconds:g} seconds, expected one")
        self._end()

    def cancel(self):
        """Forget it; what is on its way out goes on."""
        if self.call is not None and self.comes_in:
            ray.cancel(self.call)
        self.call = None

    def _end(self):
        call, self.call = self.call, None
        answer = ray.get(call)
        if self.comes_in:
            self.rank, (reference,) = answer
            came = ray.get(reference)
            if len(came) != len(self.memory):
                raise DistributedError(f"receive: got a message of {len(came)} bytes from rank {self.rank} for a "
                                       f"tensor of {len(self.memory)} bytes, expected the same")
            self.memory[:] = came
