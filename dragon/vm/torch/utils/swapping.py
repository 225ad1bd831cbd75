"""Two tensors that become each other: what `Module.to` asks for with `torch.__future__`'s switch."""


def swap_tensors(t1, t2):
    """Have two tensors, leaves both, exchange their class, elements, gradients and attributes.

    Parameters
    ----------
    t1, t2 : torch.Tensor
        The tensors; whoever holds the one holds the other's contents afterwards.

    """
    if not (t1.is_leaf and t2.is_leaf):
        raise NotImplementedError("swap_tensors: got a tensor with a history, expected leaves")
    contents = [(type(t), t.detach(), t.requires_grad, t.grad, dict(getattr(t, "__dict__", {}))) for t in (t2, t1)]
    for tensor, (kind, data, requires_grad, grad, attributes) in zip((t1, t2), contents):
        tensor.grad = None
        tensor.requires_grad = False
        tensor.data = data
        tensor.__class__ = kind
        tensor.requires_grad = requires_grad
        tensor.grad = grad
        if attributes or hasattr(tensor, "__dict__"):
            vars(tensor).clear()
            vars(tensor).update(attributes)


def set_module(obj, mod):
    """Say in which module an object is to be found."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
