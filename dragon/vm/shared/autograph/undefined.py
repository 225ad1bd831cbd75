"""Names without a value: what stands in their place, and what reading them says."""


class Undefined:
    """In the place of a name's value, where it has none.

    Parameters
    ----------
    symbol_name : str
        The name.

    """

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        """Raise the error of a name that is read before it is written."""
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self):
        return self.symbol_name


class UndefinedReturnValue:
    """In the place of what a function returns, as long as it has not returned."""


def is_missing(value):
    """Return whether a value is none at all."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def ld(value):
    """Return a name's value, or raise an UnboundLocalError if it has none."""
    if type(value) is Undefined:
        value.read()
    return value


def ldu(read, name):
    """Return what a function reads, or `Undefined` where there is nothing."""
    try:
        return read()
    except (KeyError, AttributeError, NameError, IndexError, TypeError):
        return Undefined(name)


def entry(values, place):
    """Return one of the values of a state."""
    return values[place]


def returned(value, done):
    """Return what a function returns; None where it came to its end without a `return`."""
    return None if isinstance(value, UndefinedReturnValue) else value
