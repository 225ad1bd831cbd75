"""The letters of this room: who speaks, what came, what would do."""


def got(who, came, wanted):
    """Return a letter.

    Parameters
    ----------
    who : str
        Who speaks.
    came : Any
        What came.
    wanted : str
        What would do.

    """
    said = came if isinstance(came, str) and " " in came else repr(came)
    return f"{who}: got {said}, expected {wanted}"


def absent(who, why):
    """Return the error for what is not there.

    Parameters
    ----------
    who : str
        What was asked for.
    why : str
        What is missing, and what would do.

    """
    return NotImplementedError(f"{who}: Dragon does not have it (yet): {why}")
