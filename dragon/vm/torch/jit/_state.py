"""Whether scripting is on: it runs the Python code either way."""


def enable():
    """Do nothing."""


def disable():
    """Do nothing."""
