"""Gradients of roots with respect to leaves, or to inputs by name."""
from dragon import _C


def backward(roots, grads=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradients of tensors into the `grad` of the leaves they were computed from.

    Parameters
    ----------
    roots : Union[Tensor, Sequence[Tensor]]
        What is differentiated.
    grads : Union[Tensor, Sequence[Optional[Tensor]]], optional
        Gradients of something with respect to the roots; 1 for a root of one element.
    retain_graph : bool, optional
        Keep what was saved for another backward pass; by default the value of `create_graph`.
    create_graph : bool, optional, default=False
        Record the computation of the gradients, so that they can be differentiated.
    inputs : Union[Tensor, Sequence[Tensor]], optional
        Accumulate into these only.

    Examples
    --------
    >>> x = dragon.tensor([2.0, 3.0], requires_grad=True)
    >>> dragon.backward((x ** 2).sum())
    >>> x.grad
    Tensor([4., 6.])

    """
    retain_graph = create_graph if retain_graph is None else retain_graph
    _C.backward(as_list(roots), as_list(grads), retain_graph, create_graph, as_list(inputs))


def grad(ys, xs, grads=None, retain_graph=None, create_graph=False, allow_unused=False):
    """Return the gradients of tensors with respect to others; nothing is accumulated.

    Parameters
    ----------
    ys : Union[Tensor, Sequence[Tensor]]
        What is differentiated.
    xs : Union[Tensor, Sequence[Tensor]]
        With respect to what.
    grads : Union[Tensor, Sequence[Optional[Tensor]]], optional
        Gradients of something with respect to `ys`; 1 for one of a single element.
    retain_graph : bool, optional
        Keep what was saved for another backward pass; by default the value of `create_graph`.
    create_graph : bool, optional, default=False
        Record the computation of the gradients, so that they can be differentiated.
    allow_unused : bool, optional, default=False
        Return None for an `x` that no `y` depends on; otherwise that is an error.

    Returns
    -------
    Tuple[Optional[Tensor], ...]
        One for each of `xs`.

    Examples
    --------
    >>> x = dragon.tensor(3.0, requires_grad=True)
    >>> [gradient.item() for gradient in dragon.grad(x ** 2, [x])]
    [6.0]

    """
    retain_graph = create_graph if retain_graph is None else retain_graph
    return _C.grad(as_list(ys), as_list(xs), as_list(grads), retain_graph, create_graph, allow_unused)


def as_list(value):
    """Return one tensor or a sequence of them as a list; None as None."""
    if value is None or isinstance(value, (list, tuple)):
        return value if value is None else list(value)
    return [value]
