"""Gradients of a module on their way to the mean over all processes: in buckets, while the backward pass goes on."""
import functools

from dragon import _C
from dragon.distributed.gradients import ALONE_BYTES
from dragon.vm.torch.core.tensor import Tensor, ops

FIRST_BUCKET_BYTES = 1 << 20  # soon full, so that sending begins early


class GradBucket:
    """Gradients that travel together, as communication hooks see them.

    Parameters
    ----------
    place : int
        Which of the buckets it is, in the order in which they are sent.
    params : Sequence[Parameter]
        Whose gradients it has.
    is_last : bool
        Whether no other is sent after it.

    """

    def __init__(self, place, params, is_last):
        self._place, self._params, self._is_last = place, params, is_last
        self._offsets, self._size = [], 0
        for param in params:
            self._offsets.append(self._size)
            self._size += param.numel()
        self._buffer, self.is_lent = None, False  # until it is needed

    def index(self):
        """Return its place in the order in which buckets are sent."""
        return self._place

    def buffer(self):
        """Return all its gradients as one tensor."""
        if self._buffer is None:
            self._buffer = ops.zeros(self._size, dtype=self._params[0].dtype, device=self._params[0].device)
        return self._buffer

    def set_buffer(self, tensor):
        """Set all its gradients."""
        self._buffer = tensor

    def gradients(self):
        """Return its gradients, as views of the buffer."""
        return [self._part(place) for place in range(len(self._params))]

    def parameters(self):
        """Return the parameters whose gradients it has."""
        return list(self._params)

    def is_last(self):
        """Return whether no other is sent after it in this pass."""
        return self._is_last

    def _part(self, place):
        param, at = self._params[place], self._offsets[place]
        return self.buffer()[at:at + param.numel()].view(param.shape)

    def _lend(self, gradient):
        """Have the only gradient be the buffer itself, until `_give_back`; return whether it can be."""
        if len(self._params) > 1 or not gradient.is_contiguous() or gradient.dtype != self._params[0].dtype:
            return False
        self._buffer, self.is_lent = gradient.view(-1), True
        return True

    def _give_back(self):
        """Have no gradient be the buffer."""
        if self.is_lent:
            self._buffer, self.is_lent = None, False


def _share_out(params, limits):
    """Return lists of parameters of one dtype, that of the last ones first: their gradients come first."""
    open_lists, made, filled = {}, [], 0
    for param in reversed(params):
        if param.numel() * param.element_size() >= ALONE_BYTES:
            made.append([param])
            continue
        key = param.dtype, param.device
        held = open_lists.setdefault(key, [])
        held.append(param)
        limit = limits[min(filled, len(limits) - 1)]
        if sum(each.numel() * each.element_size() for each in held) >= limit:
            made.append(open_lists.pop(key))
            filled += 1
    made += open_lists.values()
    return [held[::-1] for held in made]


class Reducer:
    """Average gradients over a group as they come.

    Parameters
    ----------
    params : List[Parameter]
        Whose gradients; the same on all processes.
    group : ProcessGroup
        The processes.
    limits : Sequence[int]
        How many bytes are sent at once, for each bucket in turn; the last one holds for all that follow.
    as_views : bool
        Whether gradients are views of the buckets from then on.
    finds_unused : bool, optional, default=False
        Whether parameters may get no gradient, here or anywhere.

    """

    def __init__(self, params, group, limits, as_views=False, finds_unused=False):
        self._group, self._as_views, self.finds_unused = group, as_views, finds_unused
        lists = _share_out(params, limits)
        self.buckets = [GradBucket(place, held, place == len(lists) - 1) for place, held in enumerate(lists)]
        self._places = {id(param): (bucket, place) for bucket in self.buckets for place, param in
                        enumerate(bucket.parameters())}
        self.hook, self.state = None, None
        self.divisor = None  # of gradients; how many processes there are, unless somebody says otherwise
        self.expecting = False
        self._handles = [param.register_post_accumulate_grad_hook(self._on_gradient) for param in params]
        self._reset()

    def _reset(self):
        self._ready = set()
        self._left = [len(bucket.parameters()) for bucket in self.buckets]
        self._sent, self._next = [], 0
        self._unused = set()

    @property
    def is_complete(self):
        """Whether all gradients of the last pass have come, and were averaged."""
        return not self.expecting

    def missing(self):
        """Return the parameters whose gradients have not come."""
        return [param for bucket in self.buckets for param in bucket.parameters() if id(param) not in self._ready]

    def prepare(self, unused=()):
        """Expect gradients of all parameters but those that are known to get none."""
        self._reset()
        self.expecting = True
        self._unused = {id(param) for param in unused}
        for param in unused:
            self._mark(param)

    def _on_gradient(self, param):
        if self.expecting:
            self._mark(param)

    def _mark(self, param):
        if id(param) in self._ready:
            raise RuntimeError("Expected to mark a variable ready only once: DistributedDataParallel got two gradients "
                               f"of a parameter of shape {tuple(param.shape)} in one backward pass, expected one; is a "
                               "part of the module run again within it (checkpoints that are reentrant do so), or is "
                               "the parameter used by several modules that are wrapped?")
        self._ready.add(id(param))
        bucket, place = self._places[id(param)]
        gradient = None if id(param) in self._unused or param.grad is None else param.grad.detach()
        if gradient is None:
            bucket._part(place).zero_()
        elif not bucket._lend(gradient):
            part = bucket._part(place)
            if not (self._as_views and gradient.data_ptr() == part.data_ptr()):
                part.copy_(gradient)
        self._left[bucket.index()] -= 1
        # In one order on all processes, whatever comes first here.
        while self._next < len(self.buckets) and self._left[self._next] == 0:
            self._send(self.buckets[self._next])
            self._next += 1
        if self._next == len(self.buckets):
            self._finish()

    def _send(self, bucket):
        if self.hook is not None:
            self._sent.append((bucket, self.hook(self.state, bucket)))
            return
        group, buffer = self._group, bucket.buffer()
        number, runner = group._core.number, group._core.runner
        call = functools.partial(_average, buffer, number, self.divisor)
        self._sent.append((bucket, runner.begin(call, like=buffer)))

    def send_zeros(self):
        """Take part in the averaging of others, with no gradients of one's own."""
        self._reset()
        for bucket in self.buckets:
            bucket.buffer().zero_()
            self._send(bucket)
        self._unused = {id(param) for bucket in self.buckets for param in bucket.parameters()}
        if self.finds_unused:
            self._used_by_nobody()
        for bucket, work in self._sent:
            work.wait()
            bucket._give_back()
        self._sent = []

    def _finish(self):
        """Wait for what was sent, and hand the means out."""
        self.expecting = False
        nobodys = self._used_by_nobody() if self.finds_unused else ()
        for bucket, work in self._sent:
            made = work.wait()
            if self.hook is not None:
                made = made[0] if isinstance(made, (list, tuple)) else made
                if made is not bucket.buffer():
                    bucket.buffer().copy_(made.view(-1) if made.shape != bucket.buffer().shape else made)
            self._hand_out(bucket, nobodys)
            bucket._give_back()
        self._sent = []

    def _hand_out(self, bucket, nobodys):
        for place, param in enumerate(bucket.parameters()):
            part = bucket._part(place)
            if id(param) in nobodys:
                continue
            if self._as_views:
                param.grad = part
            elif param.grad is None:  # it was not used here, but elsewhere
                param.grad = part.clone()
            elif not bucket.is_lent:
                param.grad.detach().copy_(part)

    def _used_by_nobody(self):
        """Return the ids of parameters that no process has used."""
        params = [param for bucket in self.buckets for param in bucket.parameters()]
        used = _C.tensor([int(id(param) not in self._unused) for param in params], "int32", params[0].device, Tensor)
        group = self._group
        ops.all_reduce(used, group._core.number, "maximum", out=used)
        return {id(param) for param, count in zip(params, used.tolist()) if not count}

    def remove(self):
        """Let go of the parameters."""
        for handle in self._handles:
            handle.remove()


def _average(buffer, number, divisor):
    ops.all_reduce(buffer, number, "average" if divisor is None else "sum", out=buffer)
    if divisor is not None:
        ops.div(buffer, divisor, out=buffer)
