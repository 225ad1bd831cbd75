"""One scenario on two sides, genuine PyTorch and Dragon: what it shows as plain numbers, or the class of its error."""
KINDS = (NotImplementedError, TypeError, ValueError, RuntimeError, Exception)


def flat(value):
    """Return the leaves of nested lists and tuples."""
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]


def plain(value, digits=5, whole=False):
    """Return tensors as lists of rounded numbers, inside structures too; with shapes and flags if `whole`."""
    if hasattr(value, "requires_grad"):
        numbers = [round(item, digits) if isinstance(item, float) else item for item in flat(value.detach().tolist())]
        return (tuple(value.shape), numbers, value.requires_grad) if whole else numbers
    if isinstance(value, dict):
        return {key: plain(item, digits, whole) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item, digits, whole) for item in value]
    return value


def outcome(scenario, side, digits=5, whole=False):
    """Return what a scenario shows on a side, or the nearest of Python's own classes to the error it raises."""
    try:
        return plain(scenario(side), digits, whole)
    except Exception as error:
        return next(kind for kind in KINDS if isinstance(error, kind))
