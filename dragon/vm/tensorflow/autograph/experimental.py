"""`tf.autograph.experimental`: what is rewritten, and how loops are."""
from dragon.vm.shared.autograph.status import Feature  # noqa: F401
from dragon.vm.shared.recording.marks import mark as _mark


def do_not_convert(func=None):
    """Return a function that AutoGraph leaves as it is, with all that it calls.

    Parameters
    ----------
    func : Callable, optional
        The function; without it, a decorator is returned.

    Returns
    -------
    Callable
        Called as `func` is.

    """
    return do_not_convert if func is None else _mark(func)


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Set options of the loop in which it stands as the first call. Outside of AutoGraph it does nothing.

    Parameters
    ----------
    parallel_iterations, swap_memory : Any, optional
        Accepted: rounds run one after another.
    maximum_iterations : int, optional
        After how many rounds the loop ends, if it is one over tensors.
    shape_invariants : Sequence[Tuple[Tensor, TensorShape]], optional
        Values before the loop, and the shapes that they may take on. A loop whose shapes change runs as Python.

    """
