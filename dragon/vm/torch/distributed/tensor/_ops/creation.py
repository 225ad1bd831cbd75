"""Random numbers: each process draws those of the whole tensor and keeps its part.

So they are the same however many processes there are, if all have the same seed.
"""
from dragon.distributed.globals.boxing import box
from dragon.distributed.globals.layout import Layout
from dragon.distributed.globals.signatures import BROADCAST, is_partial, is_split
from dragon.vm.torch.core.aten.kinds import CONSTANT, RANDOM
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.tensor._calls import Decision, meta_of, replicated
from dragon.vm.torch.distributed.tensor._ops.table import handler, handler_of_kinds, rule


def kept_part(mesh, whole, signatures):
    """Return this process's part of a tensor that all have."""
    layout = Layout(mesh._globals, tuple(whole.shape), (BROADCAST,) * mesh.ndim)
    return box(ops, whole, layout, signatures)


@handler_of_kinds(CONSTANT, RANDOM)
@handler("bernoulli")
def _drawn(call, cls):
    """Fill a tensor with numbers that are drawn."""
    if not call.written:
        return NotImplemented
    x = call.operands[0]
    if any(is_partial(cut) for cut in x.signatures):
        raise RuntimeError(f"{call.func}: got a tensor of {x.spec}, expected one without sums that remain to be done")
    others = [operand.boxed((BROADCAST,) * call.mesh.ndim) for operand in call.operands[1:]]
    if not any(map(is_split, x.signatures)):
        call.compute([x.local, *others])
        return x.tensor
    whole = ops.empty(tuple(x.shape), dtype=x.local.dtype, device=x.local.device)
    call.compute([whole, *others])
    x.local.copy_(kept_part(call.mesh, whole, x.signatures))
    return x.tensor


@rule("rand_like randn_like randint_like")
def _like(call):
    """Draw a tensor of another's form, cut as it is."""
    x = call.operands[0]
    result = tuple(cut if is_split(cut) else BROADCAST for cut in x.signatures)

    def compute(parts):
        whole = ops.empty(tuple(x.shape), dtype=x.local.dtype, device=x.local.device)
        return kept_part(call.mesh, call.compute([whole]), result)
    return Decision([x.signatures], [result], compute)


@rule("bernoulli")
def _bernoulli(call):
    """Draw by chances that all have, and keep what the chances were cut to."""
    x = call.operands[0]
    made = replicated(call)
    result = tuple(cut if is_split(cut) else BROADCAST for cut in x.signatures)
    made.compute = lambda parts: kept_part(call.mesh, call.compute(parts), result)
    made.results, made.forms = [result], [meta_of(x.tensor)]
    return made


@rule("multinomial")
def _multinomial(call):
    return replicated(call)
