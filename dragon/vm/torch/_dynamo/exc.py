"""What goes wrong with programs that are captured, by kind."""
import enum


class TorchDynamoException(RuntimeError):
    """Something about a captured program."""


class Unsupported(TorchDynamoException):
    """Something that cannot be captured."""


class UserErrorType(enum.Enum):
    """What a user did."""

    DYNAMIC_CONTROL_FLOW = enum.auto()
    ANTI_PATTERN = enum.auto()
    STANDARD_LIBRARY = enum.auto()
    CONSTRAINT_VIOLATION = enum.auto()
    DYNAMIC_DIM = enum.auto()
    INVALID_INPUT = enum.auto()
    INVALID_OUTPUT = enum.auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = enum.auto()


class UserError(Unsupported):
    """Something that only the user can change.

    Parameters
    ----------
    error_type : UserErrorType
        What it is.
    msg : str
        The letter.
    case_name : str, optional
        Where a page about it is.

    """

    def __init__(self, error_type, msg, case_name=None):
        super().__init__(msg)
        self.error_type, self.message, self.msg = error_type, msg, msg
