"""What wrong arguments break inside a function is told as a letter to who passed them."""
from dragon.core.blunders import is_ours

# What comes where an argument is of a kind, or has a value, that nobody asked for; other blunders are mistakes of ours.
LETTERS = {AttributeError: TypeError, KeyError: ValueError, StopIteration: ValueError, ZeroDivisionError: ValueError,
           RecursionError: ValueError}
BLUNDERS = tuple(LETTERS)
SHOWN = 120  # characters of an argument


def kind_of(error):
    """Return the class in which an error is told on: a letter's for a blunder here, its own where a user's code ran."""
    return LETTERS.get(type(error), type(error)) if is_ours(error) else type(error)


def letter(who, args, kwargs, error):
    """Return the letter for a blunder in a function, or the error itself where a user's code ran."""
    kind = kind_of(error)
    if kind is type(error):
        return error
    given = ", ".join([_show(arg) for arg in args] + [f"{name}={_show(value)}" for name, value in kwargs.items()])
    return kind(f"{who}: got ({given}), expected arguments of the kinds that its documentation tells: "
                f"{type(error).__name__}: {error}")


def _show(value):
    try:
        text = repr(value)
    except Exception:  # whatever a stranger's repr does
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def expect(value, kinds, who, what):
    """Return a value if it is of one of some classes, or raise a TypeError.

    Parameters
    ----------
    value : Any
        What came.
    kinds : Union[type, Tuple[type, ...]]
        The classes that would do.
    who : str
        Who speaks.
    what : str
        The argument's name.

    Returns
    -------
    Any
        The value.

    """
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise TypeError(f"{who}: got {what}={_show(value)}, expected {names}")
    return value
