"""Functions that one thread at a time runs, batches of calls, and the ways in which TensorFlow starts operators."""
import threading

from dragon.core.scopes import contextmanager
from dragon.vm.shared import nest
from dragon.vm.shared.arrays.gathering import gather
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.recording.tape import stop_gradient
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

_shared = {}  # by their names
EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


class _Room:
    """A lock, and which thread has it."""

    def __init__(self):
        self.lock, self.thread = threading.Lock(), None


class CriticalSection:
    """Functions that are run by one thread at a time.

    Parameters
    ----------
    name : str, optional
        Of the section.
    shared_name : str, optional
        Sections of one such name exclude each other.
    critical_section_def, import_scope : optional
        Must be None: sections are read from no graph.

    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None or import_scope is not None:
            raise NotImplementedError("tf.CriticalSection: sections are read from no graph. Received: "
                                      f"critical_section_def={critical_section_def!r}, import_scope={import_scope!r}")
        self.name = name or "critical_section"
        self._room = _Room() if shared_name is None else _shared.setdefault(shared_name, _Room())

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Return what a function returns, which runs when no other one of the section does.

        Parameters
        ----------
        fn : Callable
            The function, of no arguments.
        exclusive_resource_access : bool, optional, default=True
            Changes nothing: variables of other sections are not watched.

        Returns
        -------
        Any
            What the function returns.

        """
        room = self._room
        if room.thread == threading.get_ident():
            raise ValueError(f"Attempting to lock a CriticalSection ({self.name}) in which we are already running. "
                             "This is illegal and may cause deadlocks.")
        with room.lock:
            room.thread = threading.get_ident()
            try:
                return fn()
            finally:
                room.thread = None


def nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None,
                                     max_enqueued_batches=10, autograph=True, enable_large_batch_splitting=True):
    """Return a decorator for a function that may be called with the batches of several calls at once.

    Each call is a batch of its own here, filled up to the next allowed size, and gradients do not go through it.

    Parameters
    ----------
    num_batch_threads, batch_timeout_micros, max_enqueued_batches : int
        How long calls wait for others; none waits here.
    max_batch_size : int
        The greatest batch.
    allowed_batch_sizes : Sequence[int], optional
        Sizes of batches, ascending, the last of which is the greatest.
    autograph : bool, optional, default=True
        Changes nothing.
    enable_large_batch_splitting : bool, optional, default=True
        Changes nothing: greater batches are an error, as they are in TensorFlow.

    Returns
    -------
    Callable
        The decorator.

    """
    sizes = list(allowed_batch_sizes or ())
    if sizes and (sizes != sorted(sizes) or sizes[-1] != max_batch_size):
        raise ValueError(f"nondifferentiable_batch_function: got allowed_batch_sizes={sizes}, expected ascending sizes "
                         f"up to max_batch_size={max_batch_size}")

    def decorate(function):
        def batched(*args):
            args = nest.map_structure(convert_to_tensor, args)
            leaves = nest.flatten(args)
            if not leaves or not all(len(leaf.shape) for leaf in leaves):
                raise invalid_argument("Batching input tensors must have at least one dimension. Received shapes "
                                       f"{[tuple(leaf.shape) for leaf in leaves]}")
            count = leaves[0].shape[0]
            if any(leaf.shape[0] != count for leaf in leaves):
                raise invalid_argument("Batching input tensors supplied in a given op invocation must have equal "
                                       f"0th-dimension size. Received: {[leaf.shape[0] for leaf in leaves]}")
            if count > max_batch_size:
                raise invalid_argument(f"Task size {count} is larger than maximum input batch size {max_batch_size}")
            # The first row stands in for those that are missing to an allowed size.
            wanted = next((size for size in sizes if size >= count), count) if count else 0
            rows = ops.pad(ops.arange(0, count, dtype="int64"), [0, wanted - count], "constant", 0)
            found = function(*nest.map_structure(lambda x: gather(x, rows), args))
            return nest.map_structure(lambda x: stop_gradient(convert_to_tensor(x)[:count]), found)
        return batched
    return decorate


@contextmanager
def async_scope():
    """Run a `with` block whose calls TensorFlow may run later: here each is done when it returns."""
    yield


def async_clear_error():
    """Forget errors of calls that run later: there are none, as each raises where it stands."""


@contextmanager
def function_executor_type(executor_type):
    """Run a `with` block in which graphs are run in another way: there is one way here.

    Parameters
    ----------
    executor_type : str
        "DEFAULT" or "SINGLE_THREADED_EXECUTOR".

    """
    if (executor_type or "") not in EXECUTORS:
        raise ValueError(f"function_executor_type: got {executor_type!r}, expected one of {EXECUTORS[1:]}")
    yield
