"""Parameters that are whole for a while, where modules keep theirs."""

from dragon.core import modes
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.parameter import Parameter


@contextmanager
def whole(states, writes_back, rank0_only=False, with_grads=False):
    """Have the parameters of wrapped modules be whole within a `with` block.

    Parameters
    ----------
    states : List[FullyShardedDataParallel]
        The wrapped modules.
    writes_back : bool
        Whether what is written to parameters stays.
    rank0_only : bool, optional, default=False
        Whether they are so in the first process only.
    with_grads : bool, optional, default=False
        Whether gradients are whole, too.

    """
    if writes_back and rank0_only:
        raise NotImplementedError("writeback=True and rank0_only=True is not supported, as model parameter shapes will "
                                  "be different across ranks, and writing to them can lead to inconsistencies across "
                                  "ranks when the context is exited.")
    shown = []
    try:
        for state in states:
            state._is_summoned = True
            if state._handle is None:
                continue
            one = _Shown(state, with_grads)
            if not (rank0_only and state.rank):
                shown.append(one)
                one.show()
        yield
    finally:
        for one in shown:
            one.put_away(writes_back)
        for state in states:
            state._is_summoned = False


class _Shown:
    """The whole parameters of one wrapped module.

    Parameters
    ----------
    state : FullyShardedDataParallel
        The wrapped module.
    with_grads : bool
        Whether gradients are whole, too.

    """

    def __init__(self, state, with_grads):
        self.handle, self.module = state._handle, state._fsdp_wrapped_module
        if with_grads and not self.handle.keeps_originals:
            raise NotImplementedError("with_grads=True is only supported when use_orig_params=True: got a module "
                                      "wrapped without it")
        if state._unit.is_in_backward:
            raise AssertionError("Cannot manually unshard parameters during forward/backward")
        self.handle.reshard()  # what is whole after a forward pass would not see what is written now
        self.values = self.handle.gather(self.handle.flat_param)
        if not self.handle.is_sharded:
            self.values = self.values.clone()
        self.grads = self._gather_grads() if with_grads else None
        self.kept = [piece.param.grad for piece in self.handle.pieces] if self.handle.keeps_originals else None
        self.with_grads = with_grads

    def _gather_grads(self):
        """Return the whole gradient of each piece; None where no process has one."""
        handle = self.handle
        part = ops.zeros(handle.part_size, dtype=handle.flat_param.dtype, device=handle.flat_param.device)
        has = ops.stack([ops.full((), float(piece.param.grad is not None)) for piece in handle.pieces], 0)
        has = has.to(part.device)
        for piece in handle.pieces:
            if piece.param.grad is not None:
                handle.local(piece, part).copy_(piece.param.grad.detach())
        has = ops.all_reduce(has, handle.group.number, "maximum").tolist()
        return [gradient if there else None for there, gradient in zip(has, handle.split(handle.gather(part)))]

    def show(self):
        """Have modules see whole parameters."""
        handle = self.handle
        self.module._parameters.pop("_flat_param", None)
        for place, (piece, view) in enumerate(zip(handle.pieces, handle.split(self.values))):
            if handle.keeps_originals:
                param = piece.param
                self._hold(param, view, self.grads[place] if self.with_grads else None)
            else:
                param = Parameter(view, piece.requires_grad)
            handle.register(piece, param)

    @staticmethod
    def _hold(param, values, gradient):
        param.grad = None  # of another shape
        param.data = values
        param.grad = gradient

    def put_away(self, writes_back):
        """Have modules see what they do between passes, with what was written to whole parameters, if so wished."""
        handle = self.handle
        held = [piece.places[0][0]._parameters[piece.places[0][1]] for piece in handle.pieces]
        grads = [param.grad for param in held]
        if writes_back:
            with modes.no_grad():
                values = ops.cat([param.detach().reshape(-1).to(handle.flat_param.dtype) for param in held], 0)
                handle.flat_param.detach().copy_(handle.take_part(values))
        if not handle.keeps_originals:
            handle.rest()
            self.module._parameters["_flat_param"] = handle.flat_param
            return
        for param in held:
            param.grad = None  # of another shape
        handle.rest()
        for piece, gradient, before in zip(handle.pieces, grads, self.kept):
            piece.param.grad = self._local_gradient(piece, gradient) if self.with_grads and writes_back else before

    def _local_gradient(self, piece, gradient):
        """Return this process's part of a piece's gradient; None where it has no part."""
        if gradient is None or not piece.param.numel():
            return None
        low, high = piece.within(self.handle.first, self.handle.first + self.handle.part_size)
        return gradient.detach().reshape(-1)[low - piece.start:high - piece.start].view(piece.param.shape).clone()
