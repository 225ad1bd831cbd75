"""What a hook computes and sends as one task, in its group's turn, while the backward pass goes on."""
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.groups import Work
from dragon.vm.torch.distributed.making import _group


def begin(group, call, *args, like=None):
    """Begin a call in the turn of a group's collectives; return a future of what it returns.

    Within it collectives of the group are called as operators: its turn has come.
    """
    made = []
    like = next((each for each in args if isinstance(each, Tensor)), None) if like is None else like
    work = _group(group)._core.runner.begin(lambda: made.append(call(*args)), made, like)
    return Work(work).get_future().then(lambda done: done.value()[0])


def reduce_mean(tensor, core):
    """Average a tensor over a group, in place, within a task; return it."""
    return ops.all_reduce(tensor, core.number, "average", out=tensor)
