"""Parameters that are gathered and reduced together, in the passes of the modules that they belong to."""
import functools

from dragon.core import modes
from dragon.vm.torch.core.gradients import is_within_another
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.groups import ReduceOp


class ParameterGroup:
    """The parameters of one call of `fully_shard`.

    Parameters
    ----------
    params : List[ShardedParameter]
        The parameters.
    modules : List[Module]
        The modules of the call.
    group : ProcessGroup
        Who has the parts.
    copies : ProcessGroup, optional
        Who has copies of this process's part.
    policy : MixedPrecisionPolicy
        Dtypes.
    frees : bool, optional
        Whether wholes are given up between the passes; by default but for the outermost module.

    """

    def __init__(self, params, modules, group, copies, policy, frees):
        self.params, self.modules, self.group, self.policy, self.frees = params, modules, group, policy, frees
        self.copies = None if copies is None or copies.size() == 1 else copies
        self.handle = self  # what is prefetched
        self.reduces = self.reduces_copies = self.frees_after_backward = self.gathers_in_backward = True
        self.counts_unused, self.divisor, self.all_reduce_hook = False, None, None
        self.own_gather = self.own_reduce = None
        self.is_in_backward = False
        self._work, self._arrived, self._arriving, self._called = None, set(), [], set()
        self._partial = None  # parts that are yet to be reduced over copies
        self._learning, self._hooked = [], set()

    @property
    def is_whole(self):
        """Whether the parameters are whole."""
        return all(param.is_whole for param in self.params)

    def begin_unshard(self, waits=False):
        """Begin to gather the parameters, if they are not whole."""
        if self._work is not None or self.is_whole:
            return
        by_kind = {}
        for param in self.params:
            param.refresh()
            param.make_whole()
            self._hook(param)
            by_kind.setdefault(param.dtype, []).append(param)
        sent = [(held, ops.cat([param.part() for param in held], 0)) for held in by_kind.values()]
        made = []
        if self.own_gather is not None or waits:
            with modes.no_grad():
                self._gather(sent, made)
            self._fill(made)
            return
        self._work = self.group._core.runner.begin(lambda: self._gather(sent, made), made, sent[0][1]), made

    def _gather(self, sent, made):
        core = self.group._core
        for held, part in sent:
            if self.own_gather is not None:
                shape = (part.numel() * core.size,)
                rows = self.own_gather.allocate(shape, dtype=part.dtype, device=part.device)
                work = self.own_gather(rows, part, self.group, False)
                if work is not None:
                    work.wait()
            else:
                rows = ops.all_gather(part, core.number)
            made.append((held, rows.reshape(core.size, -1)))

    @staticmethod
    def _fill(made):
        with modes.no_grad():
            for held, rows in made:
                for param, parts in zip(held, rows.split([param.size for param in held], 1)):
                    param.fill(parts)

    def unshard(self):
        """Gather the parameters, and have modules see them whole."""
        self.begin_unshard(waits=True)
        if self._work is not None:
            (work, made), self._work = self._work, None
            work.wait()
            self._fill(made)
        for param in self.params:
            if param.seen() is param.sharded:
                param.show(param.whole)

    def reshard(self):
        """Have modules see tensors on the mesh."""
        if self._work is not None:
            self.unshard()
        for param in self.params:
            if param.seen() is param.whole:
                param.show(param.sharded)
            param.release()

    def _hook(self, param):
        if param.whole.requires_grad != param.sharded.requires_grad:
            param.whole.requires_grad_(param.sharded.requires_grad)
        if param.sharded.requires_grad and id(param.whole) not in self._hooked:
            self._hooked.add(id(param.whole))
            param.whole.register_post_accumulate_grad_hook(lambda _: self._on_gradient(param))
        self._learning = [each for each in self.params if each.sharded.requires_grad]

    def enter_forward(self):
        """Make the parameters ready for a forward pass."""
        self.unshard()

    def leave_forward(self, keeps):
        """End a forward pass; wholes stay for a backward pass that follows at once, if so wished."""
        if not self.is_in_backward and not (keeps and self._learning and modes.is_recording()):
            self.reshard()

    def enter_backward(self):
        """Make the parameters ready for their part of a backward pass."""
        if not (self.is_in_backward and self.is_whole):
            self.is_in_backward = True
            if self.gathers_in_backward:
                self.unshard()

    def _on_gradient(self, param):
        self._arrived.add(id(param))
        if len(self._arrived) == len(self._learning):
            self._reduce()
            if self.frees_after_backward and not is_within_another():  # otherwise what comes next may need it
                self.reshard()

    def _reduce(self):
        """Begin to reduce the gradients that have arrived."""
        self._arrived.clear()
        if not self.reduces:
            return  # they add up as wholes
        held = [param for param in self._learning if param.whole.grad is not None or self.counts_unused]
        if not held:
            return
        kinds = {}
        for param in held:
            gradient = param.take_gradient()
            kinds.setdefault(self.policy.reduce_dtype or gradient.dtype, []).append((param, gradient))
        for kind, pairs in kinds.items():
            with modes.no_grad():
                rows = ops.cat([param.spread(gradient).to(kind) for param, gradient in pairs], 1)
            params, made = [param for param, _ in pairs], []
            if self.own_reduce is not None or self.all_reduce_hook is not None:  # somebody's, which are called here
                made.append(self._reduced(rows))
                self._arriving.append((None, params, made))
            else:
                work = self.group._core.runner.begin(functools.partial(self._reduce_into, made, rows), made, rows)
                self._arriving.append((work, params, made))

    def _reduce_into(self, made, rows):
        made.append(self._reduced(rows))

    def _reduced(self, rows):
        """Return this process's part of the reduction of gradients, a row for each process."""
        core = self.group._core
        copies = self.copies if self.reduces_copies else None
        with modes.no_grad():
            way = "average" if self.divisor is None else "sum"
            if self.own_reduce is not None:
                part = self.own_reduce.allocate((rows.shape[1],), dtype=rows.dtype, device=rows.device)
                work = self.own_reduce(part, rows.reshape(-1), self.group,
                                       ReduceOp.AVG if self.divisor is None else ReduceOp.SUM, False)
                if work is not None:
                    work.wait()
            else:
                part = ops.reduce_scatter(rows.reshape(-1), core.number, way)
            if self._partial is not None and copies is not None:
                part, self._partial = part + self._partial, None
            if copies is not None:
                part = ops.all_reduce(part, copies._core.number, way)
            elif self.copies is not None:
                self._partial = part if self._partial is None else part + self._partial
                return None
            if self.divisor is not None:
                part = part / self.divisor
            if self.all_reduce_hook is not None:
                self.all_reduce_hook(part)
            return part

    def leave_backward(self):
        """End a backward pass: gradients have come, wholes are given up."""
        self.is_in_backward = False
        if self._arrived or self.counts_unused and self.reduces:
            self._reduce()
        arriving, self._arriving = self._arriving, []
        try:
            for work, params, made in arriving:
                if work is not None:
                    work.wait()
                if made[0] is not None:
                    for param, row in zip(params, made[0].split([param.size for param in params], 0)):
                        param.accumulate(row)
        finally:
            if self.frees_after_backward:
                self.reshard()

    def is_last_call(self, module):
        """Return whether all modules of the group have been called, and begin anew then."""
        self._called.add(id(module))
        if len(self._called) < len(self.modules):
            return False
        self._called.clear()
        return True
