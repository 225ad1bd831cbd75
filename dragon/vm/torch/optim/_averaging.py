"""Steps of optimizers within `with group.as_default():`: gradients are averaged over the group before they are used."""
from dragon.distributed.gradients import average
from dragon.vm.torch.core.sparse.parts import is_sparse


def arguments(optimizer, group, args, kwargs):
    """Return the arguments of a step whose gradients are averaged: those that are there, or those of a closure."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    if closure is None:
        _average(optimizer, group)
        return args, kwargs

    def averaging():
        loss = closure()
        _average(optimizer, group)
        return loss
    if "closure" in kwargs:
        return args, {**kwargs, "closure": averaging}
    return (args[0], averaging, *args[2:]), kwargs


def _average(optimizer, group):
    gradients = [param.grad for held in optimizer.param_groups for param in held["params"] if param.grad is not None]
    if any(is_sparse(gradient) for gradient in gradients):
        raise NotImplementedError(f"{type(optimizer).__name__}.step: got a sparse gradient in a group of "
                                  f"{group.size} processes, expected dense ones: `group.as_default()` averages those")
    average([gradient.detach() for gradient in gradients], group)
