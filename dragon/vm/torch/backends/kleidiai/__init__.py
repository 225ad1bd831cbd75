"""KleidiAI, which Dragon does not use."""


def is_available():
    """Return False."""
    return False
