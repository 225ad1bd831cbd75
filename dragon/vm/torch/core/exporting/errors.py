"""What is raised where a program cannot be exported."""


class ExportError(RuntimeError):
    """A program that cannot be exported."""


class Differs(ValueError):
    """The program would have gone another way."""


class GuardOnDataDependentSymNode(ExportError):
    """A program that goes one way or another by what lies in a tensor.

    Parameters
    ----------
    message : str
        What it looks at, and where.

    """


class FallBackToEngine(BaseException):
    """A program does what happens below the operators that are heard; passes by handlers of the program's own."""
