"""Operators that give numbers out, or ask all processes something."""
from dragon.distributed.globals.signatures import BROADCAST, is_partial
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.tensor._ops.table import handler


@handler("_local_scalar_dense item")
def _number(call, cls):
    """Give the only element out, which all processes have then."""
    part = call.operands[0].boxed((BROADCAST,) * call.mesh.ndim)
    return part.item()


def _agree(call, answer):
    """Return whether all processes say yes."""
    found = ops.full((), 1 if answer else 0, dtype=OBJECTS["int32"], device=call.mesh._place)
    for axis in range(call.mesh.ndim):
        found = call.mesh._globals.run(axis, lambda group, x=found: ops.all_reduce(x, group, "minimum"))
    return bool(found.item())


def _beside(call):
    """Return the parts of two tensors, cut alike."""
    one, other = call.operands[:2]
    wanted = tuple(BROADCAST if is_partial(cut) else cut for cut in one.signatures)
    return one.boxed(wanted), other.boxed(wanted)


@handler("equal")
def _equal(call, cls):
    if call.operands[0].shape != call.operands[1].shape:
        return False
    one, other = _beside(call)
    return _agree(call, call.func.run(one, other))


@handler("allclose")
def _all_close(call, cls):
    if call.operands[0].shape != call.operands[1].shape:
        return NotImplemented
    return _agree(call, call.compute(_beside(call)))
