"""Operators that compute each element of the result from the elements at its place."""
from dragon.distributed.globals.signatures import BROADCAST, Split, is_partial, is_split
from dragon.vm.torch.core.aten.kinds import ADDITIVE, CONSTANT, IDENTITY, RANDOM, SCALING, is_pointwise, kinds_of


def align(call):
    """Return the pairs that cut operands along an axis that all of them have, or are repeated along."""
    ndim = max(operand.ndim for operand in call.operands)
    shape = [1] * ndim
    for operand in call.operands:
        for axis, size in enumerate(operand.shape, ndim - operand.ndim):
            shape[axis] = max(shape[axis], size) if size else 0
    found = []
    for axis in range(ndim):
        cuts = set()
        for operand in call.operands:
            shift = ndim - operand.ndim
            cuts.update(Split(axis, cut.pieces) for cut in operand.signatures if is_split(cut, axis - shift))
        for cut in sorted(cuts, key=lambda cut: cut.pieces):
            wanted = []
            for operand in call.operands:
                own = axis - ndim + operand.ndim
                has = own >= 0 and operand.shape[own] == shape[axis]
                wanted.append(Split(own, cut.pieces) if has else BROADCAST)
            found.append((wanted, [cut]))
    return found


def applies(name):
    """Return whether an operator is computed of parts alone, element by element."""
    return is_pointwise(name) and RANDOM not in kinds_of(name)


def pointwise(call):
    """Cut operands along the same axis; leave sums to be done where the operator is linear."""
    name = call.packet[:-1] if call.packet.endswith("_") else call.packet
    kinds = kinds_of(name)
    operands = call.operands
    found = align(call)
    partial = {signature for operand in operands for signature in operand.signatures if is_partial(signature)}
    for signature in partial:
        if IDENTITY in kinds or CONSTANT in kinds and call.written:
            found.append(([signature] * len(operands), [signature]))
        elif signature.reduction not in ("sum", "average"):
            continue
        elif ADDITIVE in kinds and _adds_tensors(call, name):
            found.append(([signature] * len(operands), [signature]))
        elif SCALING in kinds:
            places = range(len(operands)) if name in ("mul", "multiply") else range(1)
            found.extend(([signature if place == at else BROADCAST for at in range(len(operands))], [signature])
                         for place in places if operands[place].local.is_floating_point())
    if CONSTANT in kinds and partial and not call.written:
        found.extend(([signature], [BROADCAST]) for signature in partial)
    return found


def _adds_tensors(call, name):
    """Return whether a sum of sums is the sum: a number would be added by each process."""
    if name in ("add", "sub", "rsub"):
        return len(call.operands) == 2
    return name != "_to_copy" or call.kwargs.get("dtype") is None or call.kwargs["dtype"].is_floating_point
