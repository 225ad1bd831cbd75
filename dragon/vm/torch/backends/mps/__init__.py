"""Apple's GPUs, of which Dragon has none."""


def is_built():
    """Return False."""
    return False


def is_available():
    """Return False."""
    return False


def is_macos_or_newer(major, minor):
    """Return False: this is Linux."""
    return False


def is_macos13_or_newer(minor=0):
    """Return False: this is Linux."""
    return False
