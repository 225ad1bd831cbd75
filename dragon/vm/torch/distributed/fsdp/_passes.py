"""What happens to flat parameters in forward and backward passes."""
from dragon.core import modes
from dragon.vm.torch.core.gradients import is_within_another, queue_callback
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nn.parallel.distributed import _tensors_of


class Unit:
    """A flat parameter in the passes of the module that it belongs to.

    Parameters
    ----------
    handle : Handle
        The flat parameter.
    replicas : dragon.distributed.group.ProcessGroup, optional
        Processes that have the same part as this one.
    frees_after_forward : bool
        Whether the whole is given up between the passes.
    reduce_dtype : dtype, optional
        Of gradients on their way; by default that they are computed in.
    keeps_low : bool
        Whether gradients stay in that dtype.

    """

    def __init__(self, handle, replicas, frees_after_forward, reduce_dtype, keeps_low):
        self.handle, self.replicas, self.frees_after_forward = handle, replicas, frees_after_forward
        self.reduce_dtype, self.keeps_low = reduce_dtype or handle.dtype, keeps_low
        self.syncs, self.hook, self.state = True, None, None
        self.is_in_backward = False
        self._arriving = []  # gradients on their way: (the work, what it fills)
        if handle.full.requires_grad:
            handle.full.register_post_accumulate_grad_hook(self._on_gradient)

    def enter_forward(self):
        """Make the whole ready for a forward pass."""
        self.handle.unshard()
        self.handle.use_views()

    def leave_forward(self, keeps):
        """End a forward pass; the whole stays for a backward pass that follows at once, if so wished."""
        if self.is_in_backward:  # what was computed again is used now
            return
        if not (keeps and self.handle.full.requires_grad and modes.is_recording()):
            self.handle.reshard()
        self.handle.rest()

    def enter_backward(self):
        """Make the whole ready for its part of a backward pass."""
        if self.is_in_backward and self.handle.is_whole:
            return
        self.is_in_backward = True
        self.handle.unshard()
        with modes.enable_grad():
            self.handle.use_views()

    def _on_gradient(self, full):
        if self.syncs:
            self._begin_reduction(full)
        if not is_within_another():  # otherwise what is computed again next may need it
            self.handle.reshard()
            self.handle.rest()

    def _begin_reduction(self, full):
        gradient, full.grad = full.grad.detach().to(self.reduce_dtype), None
        if self.hook is not None:
            self._arriving.append((None, [self._by_hook(gradient)]))
        else:
            made, group = [], self.handle.group
            work = group.runner.begin(lambda: made.append(self._reduce(gradient)), made, gradient)
            self._arriving.append((work, made))

    def _reduce(self, gradient):
        """Return this process's part of the mean of a gradient."""
        if self.handle.is_sharded:
            gradient = ops.reduce_scatter(gradient, self.handle.group.number, "average")
        elif self.handle.group.size > 1:
            gradient = ops.all_reduce(gradient, self.handle.group.number, "average")
        if self.replicas is not None:
            gradient = ops.all_reduce(gradient, self.replicas.number, "average")
        return gradient

    def _by_hook(self, gradient):
        if not self.handle.is_sharded:
            self.hook(self.state, gradient)
            return gradient
        made = ops.empty(self.handle.part_size, dtype=gradient.dtype, device=gradient.device)
        self.hook(self.state, gradient, made)
        return made

    def leave_backward(self):
        """End a backward pass: gradients have come, the whole is given up."""
        self.is_in_backward = False
        arriving, self._arriving = self._arriving, []
        try:
            with modes.no_grad():
                for work, made in arriving:
                    if work is not None:
                        work.wait()
                    wanted = self.reduce_dtype if self.keeps_low else self.handle.flat_param.dtype
                    self.handle.accumulate(made[0].to(wanted))
        finally:
            self.handle.reshard()
            self.handle.rest()


class Passes:
    """The passes of an outermost module, and of all flat parameters in it."""

    def __init__(self, units, prefetches_backward, prefetches_forward):
        self.units, self._prefetches_backward, self._prefetches_forward = units, prefetches_backward, prefetches_forward
        self._order, self._last, self._is_queued = [], [], False

    def begin_forward(self):
        """Begin a forward pass of the outermost module."""
        if not self._is_queued:  # otherwise it is computed again within a backward pass
            self._last, self._order = self._order, []

    def enter_forward(self, unit):
        """Make a flat parameter ready, and have the next one gathered meanwhile, as last time."""
        if unit.is_in_backward:
            unit.enter_forward()
            return
        self._order.append(unit)
        place = len(self._order)
        unit.enter_forward()
        if self._prefetches_forward and place < len(self._last) and self._last[place - 1] is unit:
            self._last[place].handle.begin_unshard()

    def watch(self, unit, made, others=()):
        """Have the backward pass make a flat parameter ready once it comes to a module's outputs, and begin others."""
        if not modes.is_recording():
            return
        place = len(self._order) - 1

        def enter(gradient):
            self._enter_backward(unit, place)
            for other in others:
                other.handle.begin_unshard()
        for tensor in _tensors_of(made):
            if tensor.requires_grad:
                tensor.register_hook(enter)

    def _enter_backward(self, unit, place):
        if not self._is_queued:
            self._is_queued = True
            queue_callback(self._end)
        if unit is None or unit.is_in_backward and unit.handle.is_whole:
            return
        unit.enter_backward()
        if self._prefetches_backward and 0 < place < len(self._order):
            before = self._order[place - 1]
            if not before.is_in_backward:
                before.handle.begin_unshard()

    def _end(self):
        self._is_queued = False
        for unit in self.units:
            unit.leave_backward()


def convert(value, kind):
    """Return arguments with their tensors of floating-point numbers converted."""
    if isinstance(value, Tensor):
        return value.to(kind) if value.is_floating_point() and value.dtype != kind else value
    if isinstance(value, dict):
        return type(value)((key, convert(each, kind)) for key, each in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(convert(each, kind) for each in value))
    if isinstance(value, (list, tuple)):
        return type(value)(convert(each, kind) for each in value)
    return value
