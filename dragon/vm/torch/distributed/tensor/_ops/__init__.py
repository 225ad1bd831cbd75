"""Rules of operators for tensors on a mesh: which parts they can work with, and what comes of them then."""
from dragon.vm.torch.distributed.tensor._calls import replicated
from dragon.vm.torch.distributed.tensor._ops import (
    creation, handlers, joining, losses, matrices, normalization, pointwise, reductions, updates, views)
from dragon.vm.torch.distributed.tensor._ops.table import (  # noqa: F401
    EARLY, RULES, TAKE_PLAIN, chosen, handler_for, name_of, ways_for)

_FAMILIES = (creation, handlers, joining, losses, matrices, normalization, pointwise, reductions, updates,
             views)


def takes_plain(func):
    """Return whether an operator takes plain tensors for what all processes have: masks, and targets of cut classes."""
    name = str(func)
    return name in TAKE_PLAIN or name.startswith("dragon.") or losses.classes_are_cut() and "nll_loss" in name


def has_handler(func):
    """Return whether calls of an operator are answered by a handler, as a rule."""
    name = func.overloadpacket.__name__
    return handler_for(name[:-1] if name.endswith("_") else name) is not None


def handle(call, cls):
    """Return what a handler makes of a call that does more than compute parts; NotImplemented where there is none."""
    found = handler_for(name_of(call))
    return NotImplemented if found is None else found(call, cls)


def decide(call):
    """Return what is to be made of a call, as its rule says; None where there is no rule."""
    name = name_of(call)
    custom = CUSTOM.get(str(call.func))
    if custom is not None:
        return custom(call)
    rule = RULES.get(name)
    if rule is not None:
        found = rule(call)
        return replicated(call) if found is None else found
    ways = ways_for(name) or (pointwise.pointwise if pointwise.applies(name) else None)
    if ways is None:
        return replicated(call) if all(operand.spec.is_replicated() for operand in call.operands) else None
    found = ways(call)
    return chosen(call, found)


CUSTOM = {}  # what programs register for operators of their own, by their full names
