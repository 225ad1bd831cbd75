"""Steps of a `ZeroRedundancyOptimizer` within the backward pass: who steps what of which bucket of gradients."""
import dataclasses

from dragon.core import modes
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.optim import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, RMSprop, Rprop

# Those whose steps of a parameter look at nothing else.
KINDS = (Adadelta, Adagrad, Adam, AdamW, Adamax, RMSprop, Rprop, SGD)


@dataclasses.dataclass
class Assignment:
    """Parameters of one bucket that follow each other, which one process steps.

    Parameters
    ----------
    bucket : int
        The place of the bucket.
    rank : int
        Who steps them.
    offset : int
        The first one's place in the bucket.
    params : List[Parameter]
        The parameters, views of `tensor`.

    """

    bucket: int
    rank: int
    offset: int
    params: list

    def __post_init__(self):
        self.tensor, at = ops.cat([param.detach().reshape(-1) for param in self.params], 0), 0
        for param in self.params:
            param.data = self.tensor[at:at + param.numel()].view(param.shape)
            at += param.numel()


def _sizes(params):
    return [param.numel() for param in params]


def _assign(buckets, count):
    """Return each bucket as one assignment, to the processes in turn."""
    return [Assignment(place, place % count, 0, params) for place, params in enumerate(buckets)]


def _assign_pieces(buckets, count):
    """Return buckets in pieces below an even share, the smallest first, each to who has least and none of the bucket.

    Where all have some of it, who has least takes it.
    """
    bound, held, found = sum(map(sum, map(_sizes, buckets))) / count, [0] * count, []
    for place in sorted(range(len(buckets)), key=lambda place: sum(_sizes(buckets[place]))):
        taken, start, sizes = set(), 0, _sizes(buckets[place])
        for end in range(1, len(sizes) + 1):
            if end < len(sizes) and sum(sizes[start:end + 1]) < bound:
                continue
            free = [rank for rank in range(count) if rank not in taken] or list(range(count))
            rank = min(free, key=lambda rank: (held[rank], rank))
            found.append(Assignment(place, rank, start, buckets[place][start:end]))
            held[rank] += sum(sizes[start:end])
            taken.add(rank)
            start = end
    return found


class Overlap:
    """What an optimizer knows of the buckets of a `DistributedDataParallel`, and the steps of one backward pass.

    Parameters
    ----------
    zero : ZeroRedundancyOptimizer
        The optimizer.

    """

    def __init__(self, zero):
        self._zero = zero
        self.cuts_buckets, self.warm_ups = False, 2
        self.buckets, self.assignments = [], None
        self._passes, self._waiting, self._sent = 0, [], []

    def begin(self, place):
        """Note that a bucket is sent; the first one of a pass comes first."""
        self._passes += place == 0
        if self._passes > self.warm_ups and self.assignments is None:
            self._divide()

    def learn(self, bucket):
        """Note a bucket's parameters, in passes in which nothing is stepped yet."""
        if self._passes == self.warm_ups:
            self.buckets.append(bucket.parameters())

    def _divide(self):
        """Say who steps what, and make the optimizer of this process."""
        make = _assign_pieces if self.cuts_buckets else _assign
        self.assignments = make(self.buckets, self._zero.world_size)
        self.assignments.sort(key=lambda each: (each.bucket, each.offset))
        self._zero._begin_overlap([[param for each in self.assignments if each.rank == rank for param in each.params]
                                   for rank in range(self._zero.world_size)])

    @property
    def steps(self):
        """bool: whether steps are taken in this pass."""
        return self.assignments is not None

    def send(self, bucket, future):
        """Have a bucket wait for its step."""
        self._waiting.append((bucket, future))

    def settle(self, kept=0):
        """Step what waits, but for the last ones; what is stepped is sent meanwhile."""
        while len(self._waiting) > kept:
            bucket, future = self._waiting.pop(0)
            made = future.wait()
            made = made[0] if isinstance(made, (list, tuple)) else made
            if made is not bucket.buffer() and made.data_ptr() != bucket.buffer().data_ptr():
                bucket.buffer().copy_(made.reshape(-1))
            with modes.no_grad():
                for each in self.assignments:
                    if each.bucket == bucket.index():
                        if each.rank == self._zero.rank:
                            gradients = bucket.gradients()[each.offset:each.offset + len(each.params)]
                            self._zero._step_some(each.params, gradients)
                        self._sent.append(collectives.broadcast(each.tensor, group=self._zero.process_group,
                                                                group_src=each.rank, async_op=True))

    def finish(self):
        """Wait for what others have stepped."""
        sent, self._sent = self._sent, []
        for work in sent:
            work.wait()
