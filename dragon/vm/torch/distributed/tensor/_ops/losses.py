"""Losses of classes: sums over examples that are cut, and over classes that are cut where a program asks for it."""

from dragon.core.scopes import contextmanager
from dragon.distributed.globals.signatures import BROADCAST, Split, is_partial, is_split
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.tensor._calls import Decision, meta_of
from dragon.vm.torch.distributed.tensor._ops.table import rule

NONE, MEAN, SUM = 0, 1, 2
_settings = {"classes": False}


@contextmanager
def with_cut_classes():
    """Take classes as they are cut, within a `with` block."""
    before, _settings["classes"] = _settings["classes"], True
    try:
        yield
    finally:
        _settings["classes"] = before


def classes_are_cut():
    """Return whether the program is in a block that takes classes as they are cut."""
    return _settings["classes"]


def _reduced(call, signatures, axis, local, reduction="sum"):
    """Reduce over the processes among which an axis is cut."""
    for place, cut in enumerate(signatures):
        if is_split(cut, axis):
            local = call.mesh._globals.run(
                place, lambda group, x=local: ops.all_reduce(ops.contiguous(x), group, reduction))
    return local


def _rows(call, axis):
    """Return the signatures of the first operand as a loss takes them: the axis is whole unless the program said so."""
    return tuple(BROADCAST if is_partial(cut) or is_split(cut, axis) and not _settings["classes"] else cut
                 for cut in call.operands[0].signatures)


@rule("_softmax _log_softmax")
def _softmax(call):
    """Divide by sums along an axis; where it is cut, by those of all parts."""
    x = call.operands[0]
    axis = call.values["dim"] % max(x.ndim, 1)
    wanted = _rows(call, axis)

    def compute(parts):
        if not any(is_split(cut, axis) for cut in wanted):
            return call.compute(parts)
        part = parts[0]
        largest = ops.amax(part, axis, True) if part.shape[axis] else ops.full(
            (*part.shape[:axis], 1, *part.shape[axis + 1:]), -float("inf"), dtype=part.dtype, device=part.device)
        shifted = part - _reduced(call, wanted, axis, largest, "maximum")
        total = _reduced(call, wanted, axis, ops.sum(ops.exp(shifted), axis, True))
        return shifted - ops.log(total) if call.packet == "_log_softmax" else ops.exp(shifted) / total
    return Decision([wanted], [wanted], compute)


@rule("_softmax_backward_data _log_softmax_backward_data")
def _softmax_backward(call):
    grad, output = call.operands
    axis = call.values["dim"] % max(output.ndim, 1)
    wanted = tuple(BROADCAST if is_partial(cut) or is_split(cut, axis) and not _settings["classes"] else cut
                   for cut in output.signatures)

    def compute(parts):
        if not any(is_split(cut, axis) for cut in wanted):
            return call.compute(parts)
        dy, y = parts
        if call.packet == "_log_softmax_backward_data":
            return dy - ops.exp(y) * _reduced(call, wanted, axis, ops.sum(dy, axis, True))
        return y * (dy - _reduced(call, wanted, axis, ops.sum(dy * y, axis, True)))
    return Decision([wanted, wanted], [wanted], compute)


class _Picked:
    """Which examples and classes a process has in a loss that picks one class of each example.

    Parameters
    ----------
    call : Call
        The call.
    x : Operand
        The numbers of classes.
    values : Dict[str, Any]
        The call's arguments.

    """

    def __init__(self, call, x, values):
        self.call, self.x, self.values = call, x, values
        self.axis = 0 if x.ndim < 2 else 1
        self.wanted = tuple(BROADCAST if is_partial(cut) or is_split(cut, self.axis) and not _settings["classes"]
                            else cut for cut in x.signatures)
        self.targets = tuple(
            Split(cut.axis - (cut.axis > self.axis), cut.pieces) if is_split(cut) and cut.axis != self.axis
            else BROADCAST for cut in self.wanted)
        self.classes_are_cut = any(is_split(cut, self.axis) for cut in self.wanted)

    def places(self, part, target):
        """Return where targets stand in a process's classes, which ones stand elsewhere, and which do not count."""
        layout = self.call.spec(self.wanted, self.x.spec.tensor_meta).layout
        shifted = target - layout.offsets()[self.axis]
        elsewhere = ops.logical_or(shifted < 0, shifted >= part.shape[self.axis])
        left_out = ops.eq(target, self.values["ignore_index"])
        return ops.masked_fill(shifted, elsewhere, 0), ops.logical_or(elsewhere, left_out), left_out

    def weights(self, weight, target, left_out, like):
        """Return what each example weighs."""
        if weight is None:
            return ops.masked_fill(ops.ones(target.shape, dtype=like.dtype, device=like.device), left_out, 0)
        found = ops.embedding(ops.unsqueeze(weight, 1), ops.masked_fill(target, left_out, 0))
        return ops.masked_fill(ops.squeeze(found, -1), left_out, 0)

    def over_examples(self, local):
        """Sum over the processes among which examples are cut."""
        for axis in range(self.x.ndim):
            if axis != self.axis:
                local = _reduced(self.call, self.wanted, axis, local)
        return local


def _split_arguments(parts, call):
    """Return parts by the names of their arguments."""
    names = ("grad_output", "self", "target", "weight", "total_weight")
    found = dict.fromkeys(names)
    for name in names:
        place = call.place(name)
        if place is not None:
            found[name] = parts[place]
    return found


def _operands(call, picked):
    """Return what each operand shall be."""
    known = {"self": picked.wanted, "target": picked.targets}
    if call.values["reduction"] == NONE:
        known["grad_output"] = picked.targets
    found = [(BROADCAST,) * call.mesh.ndim] * len(call.operands)
    for name, signatures in known.items():
        place = call.place(name)
        if place is not None:
            found[place] = signatures
    return found


@rule("nll_loss_forward nll_loss2d_forward")
def _nll_loss(call):
    """Pick the numbers of the targets; the result is the same everywhere where it is a sum or a mean."""
    values = call.values
    picked = _Picked(call, call.operand("self"), values)
    whole = (BROADCAST,) * call.mesh.ndim

    def compute(parts):
        given = _split_arguments(parts, call)
        x, target, weight = given["self"], given["target"], given["weight"]
        if not picked.classes_are_cut and not any(map(is_split, picked.targets)):
            return call.compute(parts)
        if x.ndim > 1 and x.shape[0] == 0:
            loss = ops.zeros(target.shape, dtype=x.dtype, device=x.device)
            total = ops.zeros((), dtype=x.dtype, device=x.device)
        elif picked.classes_are_cut:
            at, masked, left_out = picked.places(x, target)
            found = ops.squeeze(ops.gather(x, picked.axis, ops.unsqueeze(at, picked.axis)), picked.axis) \
                if x.shape[picked.axis] else ops.zeros(target.shape, dtype=x.dtype, device=x.device)
            found = _reduced(call, picked.wanted, picked.axis, ops.masked_fill(found, masked, 0))
            weights = picked.weights(weight, target, left_out, x)
            loss, total = -found * weights, ops.sum(weights)
        else:
            loss, total = call.func.run(x, target, weight, NONE, values["ignore_index"])
            left_out = ops.eq(target, values["ignore_index"])
            total = ops.sum(picked.weights(weight, target, left_out, x))
        if values["reduction"] == NONE:
            return loss, ops.zeros_like(total)
        loss, total = picked.over_examples(ops.sum(loss)), picked.over_examples(total)
        return (loss / total if values["reduction"] == MEAN else loss), total
    first = picked.targets if values["reduction"] == NONE else whole
    return Decision(_operands(call, picked), [first, whole], compute)


@rule("nll_loss_backward nll_loss2d_backward")
def _nll_loss_backward(call):
    values = call.values
    picked = _Picked(call, call.operand("self"), values)

    def compute(parts):
        if not picked.classes_are_cut:
            return call.compute(parts)
        given = _split_arguments(parts, call)
        grad, x, target = given["grad_output"], given["self"], given["target"]
        if values["reduction"] == MEAN:
            grad = grad / given["total_weight"]
        at, masked, left_out = picked.places(x, target)
        terms = ops.masked_fill(-grad * picked.weights(given["weight"], target, left_out, x), masked, 0)
        made = ops.zeros(x.shape, dtype=x.dtype, device=x.device)
        if 0 in x.shape:
            return made
        return made.scatter(picked.axis, ops.unsqueeze(at, picked.axis), ops.unsqueeze(terms, picked.axis))
    return Decision(_operands(call, picked), [picked.wanted], compute, [meta_of(call.operand("self").tensor)])
