"""Tensors as text: NumPy's layout, and behind it whatever is out of the ordinary."""

# What a number typed into `tensor(...)` becomes; such dtypes go without saying.
PLAIN = ("float32", "int64", "bool")
LONGEST = 1000  # elements shown in full


def format_tensor(tensor, numbers, prefix="Tensor("):
    """Return a tensor as `Tensor([[1., 2.]], requires_grad=True)`.

    Parameters
    ----------
    tensor : Tensor
        What is shown.
    numbers : Optional[numpy.ndarray]
        Its numbers in a dtype that NumPy has; None when there are none.
    prefix : str, optional, default="Tensor("
        What stands before them; a parenthesis closes it.

    Returns
    -------
    str
        The text.

    """
    name = tensor.dtype.name
    notes = []
    if numbers is None:
        notes += [f"shape={tuple(tensor.shape)}", f"dtype={name}"]
    else:
        import numpy  # here, so that `import dragon` does not wait for NumPy
        notes.append(numpy.array2string(numbers, separator=", ", prefix=" " * len(prefix), threshold=LONGEST))
        if numbers.size == 0 and numbers.ndim != 1:
            notes.append(f"shape={tuple(tensor.shape)}")
        if name not in PLAIN or numbers.size == 0:
            notes.append(f"dtype={name}")
    if tensor.device.type != "cpu":
        notes.append(f"device={str(tensor.device)!r}")
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn={tensor.grad_fn.name()}")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    return f"{prefix}{', '.join(notes)})"
