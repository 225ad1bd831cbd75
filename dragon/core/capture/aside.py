"""Calls that are no part of the capture they are made in: they run once, at once, with numbers."""
import contextlib

from dragon.core import modes
from dragon.core.capture.control import NoGraph
from dragon.core.capture.recording import Recording
from dragon.core.capture.settings import captures


@contextlib.contextmanager
def unnoticed():
    """Have this thread's captures in progress not notice what a `with` block looks at."""
    running = list(captures())
    for capture in reversed(running):
        capture.trace.stop()
    try:
        yield
    finally:
        for capture in running:
            capture.trace.start()


@contextlib.contextmanager
def aside():
    """Have this thread's captures in progress look away within a `with` block.

    What is done in the block is done now and not again when the graph runs. Where a call is written down that was made
    before, there is no graph: the block must not be run twice.
    """
    running = list(captures())
    if running and not isinstance(running[0], Recording):
        raise NoGraph("it does something once, outside of the graph")
    phantom = modes.set_phantom(False)
    try:
        with unnoticed():
            captures().clear()
            try:
                yield
            finally:
                captures().extend(running)
    finally:
        modes.set_phantom(phantom)
