"""Optimizers that take a parameter's step as soon as its gradient is there, which is then given up."""


def _apply_optimizer_in_backward(optimizer_class, params, optimizer_kwargs, register_hook=True):
    """Have each parameter stepped within backward passes, by an optimizer of its own.

    Parameters
    ----------
    optimizer_class : type
        The optimizer's class.
    params : Iterable[Parameter]
        The parameters.
    optimizer_kwargs : Dict[str, Any]
        Its options.
    register_hook : bool, optional, default=True
        Whether the step is taken once the gradient is there; otherwise somebody else takes it.

    """
    def step(param):
        for optimizer in param._in_backward_optimizers:
            optimizer.step()
        param.grad = None

    for param in params:
        if not hasattr(param, "_in_backward_optimizers"):
            param._in_backward_optimizers, param._optimizer_classes, param._optimizer_kwargs = [], [], []
            if register_hook:
                param.register_post_accumulate_grad_hook(step)
        param._in_backward_optimizers.append(optimizer_class([param], **optimizer_kwargs))
        param._optimizer_classes.append(optimizer_class)
        param._optimizer_kwargs.append(optimizer_kwargs)


def _get_in_backward_optimizers(module):
    """Return the optimizers that step a module's parameters within backward passes."""
    return [optimizer for param in module.parameters() for optimizer in getattr(param, "_in_backward_optimizers", ())]
