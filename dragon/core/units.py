"""Numbers in units that people read."""


def count_bytes(number, digits=2):
    """Return a number of bytes in the unit that suits it.

    Parameters
    ----------
    number : Union[int, float]
        How many.
    digits : int, optional, default=2
        Digits behind the point, where the unit is more than a byte.

    Returns
    -------
    str
        Such as "1.50 MiB".

    """
    for unit, size in (("GiB", 2 ** 30), ("MiB", 2 ** 20), ("KiB", 2 ** 10)):
        if number >= size:
            return f"{number / size:.{digits}f} {unit}"
    return f"{number:.0f} B"
