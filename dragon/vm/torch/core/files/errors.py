"""Errors of files."""


class WriteError(OSError, RuntimeError):
    """What the system says of a file that cannot be written, which is a RuntimeError in PyTorch."""
