"""`tf.errors`: TensorFlow's classes of trouble, to which the engine's own errors belong as well."""
from dragon import _C
from dragon.core import sentences
from dragon.vm.shared import known
from dragon.vm.shared.naming import known_as

CODES = """
1 CancelledError CANCELLED
2 UnknownError UNKNOWN
3 InvalidArgumentError INVALID_ARGUMENT
4 DeadlineExceededError DEADLINE_EXCEEDED
5 NotFoundError NOT_FOUND
6 AlreadyExistsError ALREADY_EXISTS
7 PermissionDeniedError PERMISSION_DENIED
8 ResourceExhaustedError RESOURCE_EXHAUSTED
9 FailedPreconditionError FAILED_PRECONDITION
10 AbortedError ABORTED
11 OutOfRangeError OUT_OF_RANGE
12 UnimplementedError UNIMPLEMENTED
13 InternalError INTERNAL
14 UnavailableError UNAVAILABLE
15 DataLossError DATA_LOSS
16 UnauthenticatedError UNAUTHENTICATED
"""
# What TensorFlow's users catch where the engine speaks.
ENGINE = {"InvalidValue": "InvalidArgumentError", "InvalidType": "InvalidArgumentError",
          "InvalidIndex": "InvalidArgumentError", "LinAlgError": "InvalidArgumentError",
          "Unsupported": "UnimplementedError", "EngineError": "InternalError",
          "OutOfMemory": "ResourceExhaustedError"}


@known_as("tensorflow.errors")
class OpError(Exception):
    """Trouble of an operator.

    Parameters
    ----------
    node_def : Any
        The operator's node, if there is a graph.
    op : Any
        The operator, if it is known.
    message : str
        What happened.
    error_code : int, optional
        TensorFlow's number of the kind of trouble.

    """

    error_code = 2

    def __init__(self, node_def=None, op=None, message="", error_code=None):
        if isinstance(node_def, str) and not message:
            node_def, message = None, node_def
        super().__init__(message)
        self._node_def, self._op = node_def, op
        if error_code is not None:
            self.error_code = error_code

    message = property(lambda self: Exception.__str__(self), doc="str: what happened.")
    op = property(lambda self: getattr(self, "_op", None), doc="Any: the operator, if it is known.")
    node_def = property(lambda self: getattr(self, "_node_def", None),
                        doc="Any: the operator's node, if there is a graph.")
    experimental_payloads = property(lambda self: {}, doc="dict: further facts; there are none.")


def _make_classes():
    """Make the class and the number of every kind of trouble."""
    made = {"OK": 0}
    for line in CODES.strip().split("\n"):
        number, name, constant = line.split()
        doc = f"Trouble of the kind that TensorFlow calls {constant.replace('_', ' ').lower()}."
        facts = {"__doc__": doc, "error_code": int(number), "__module__": OpError.__module__}
        made[name] = type(name, (OpError,), facts)
        made[constant] = int(number)
    return made


globals().update(_make_classes())


@known_as("tensorflow.errors")
class OperatorNotAllowedInGraphError(TypeError):
    """A tensor without numbers was asked for them."""


@known_as("tensorflow.errors")
class InaccessibleTensorError(ValueError):
    """A tensor that a branch, loop or function made was asked for outside of it."""


def adopt_engine():
    """Let the engine's errors be caught as TensorFlow's and say its sentences; else they stay what they are."""
    for engine, name in ENGINE.items():
        kind, ours = getattr(_C, engine), globals()[name]
        if ours not in kind.__bases__:
            kind.__bases__ = (*kind.__bases__, ours)
    sentences.adopt(known.rows)


adopt_engine()


class _WrongShape(InvalidArgumentError, ValueError):  # noqa: F821
    """What an operator refuses while a graph is made: TensorFlow finds it before there are numbers."""


class _WrongDtype(InvalidArgumentError, TypeError):  # noqa: F821
    """The same, for dtypes that do not go together."""


for _kind in (_WrongShape, _WrongDtype):  # what users are told
    _kind.__name__ = _kind.__qualname__ = "InvalidArgumentError"
    _kind.__module__ = OpError.__module__

makes_graph = [lambda: False]  # returns whether a `tf.function` is being traced; who knows enters it


def invalid_argument(message):
    """Return an InvalidArgumentError with nothing but a message; while a graph is made, a ValueError or TypeError too.

    Parameters
    ----------
    message : str
        What happened. With "[Op:Name]" in it, an operator says so.

    """
    kind = globals()["InvalidArgumentError"]
    if "[Op:" in message and makes_graph[0]():
        kind = _WrongDtype if "was expected to be a" in message else _WrongShape
    return kind(None, None, message)
