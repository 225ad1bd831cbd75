"""Letters about results that are not close: which, how far apart, where, and how far they may be."""
import math

from dragon.vm import torch


class ErrorMeta(Exception):
    """A difference of two items, before it is raised in its own class.

    Parameters
    ----------
    type : type
        The class to raise.
    msg : str
        The letter.
    id : tuple, optional
        Indices and keys that lead to the items.

    """

    def __init__(self, type, msg, *, id=()):
        super().__init__(msg)
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg=None):
        """Return the exception to raise, with a text of the user's, or one made of this."""
        if isinstance(msg, str):
            return self.type(msg)
        text = self.msg
        if self.id:
            text += "\n\nThe failure occurred for item " + "".join(f"[{item!r}]" for item in self.id)
        return self.type(msg(text) if callable(msg) else text)


def named(identifier, usual):
    """Return what a letter calls the two items: a word of the caller's, or one made of the usual word."""
    if identifier is None:
        return usual
    return identifier(usual) if callable(identifier) else identifier


def describe(what, extra, absolute, relative, rtol, atol):
    """Return the letter about numbers: how far apart, where, and how far they may be."""
    equality = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equality else 'close'}!", "", extra]
    for name, (difference, place), tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        line = (f"{name.title()} difference: {difference}" if place is None
                else f"Greatest {name} difference: {difference} at index {place}")
        lines.append(line if equality else f"{line} (up to {tolerance} allowed)")
    return "\n".join(lines)


def make_scalar_mismatch_msg(actual, expected, *, rtol, atol, identifier=None):
    """Return the letter about two numbers.

    Parameters
    ----------
    actual, expected : Union[bool, int, float, complex]
        The numbers.
    rtol, atol : float
        The tolerances.
    identifier : Union[str, Callable[[str], str]], optional, default="Scalars"
        What the letter calls them, or what makes that of the usual word.

    Returns
    -------
    str
        The letter.

    """
    apart = abs(actual - expected)
    relative = math.inf if expected == 0 else apart / abs(expected)
    return describe(named(identifier, "Scalars"), f"Expected {expected} but got {actual}.", (apart, None),
                    (relative, None), rtol, atol)


def make_tensor_mismatch_msg(actual, expected, matches, *, rtol, atol, identifier=None):
    """Return the letter about two tensors.

    Parameters
    ----------
    actual, expected : dragon.vm.torch.Tensor
        The tensors.
    matches : dragon.vm.torch.Tensor
        Where they are close, a bool for each element.
    rtol, atol : float
        The tolerances.
    identifier : Union[str, Callable[[str], str]], optional, default="Tensor-likes"
        What the letter calls them, or what makes that of the usual word.

    Returns
    -------
    str
        The letter.

    """
    what = named(identifier, "Tensor-likes")
    count = matches.numel()
    wrong = count - int(torch.sum(matches))
    extra = f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})"
    if actual.dtype.is_floating_point and actual.dtype.itemsize == 1:  # these have no differences, only bits
        first = tuple(torch.nonzero(~matches)[0].tolist())
        return f"{what} are not 'equal'!\n\n{extra}\nThe first mismatched element is at index {first}."
    actual, expected, flat = actual.flatten(), expected.flatten(), matches.flatten()
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    apart = torch.abs(actual - expected)
    apart[flat] = 0
    relative = apart / torch.abs(expected)
    relative[flat] = 0
    found = []
    for differences in (apart, relative):
        largest, place = torch.max(differences, 0)
        found.append((largest.item(), unravel(int(place), matches.shape)))
    return describe(what, extra, *found, rtol, atol)


def unravel(flat, shape):
    """Return the index of an element by its place in row-major order."""
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))
