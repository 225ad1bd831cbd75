"""Errors of a compiler of Python code."""


class FrontendError(Exception):
    """Python code that a compiler cannot read; Dragon compiles none."""


class NotSupportedError(FrontendError):
    """The same, with its place."""
