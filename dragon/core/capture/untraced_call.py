"""Calls that are left out of the capture they are made in: they run once, immediately, with real numbers."""
from dragon.core import modes
from dragon.core.capture.control import NoGraph
from dragon.core.capture.recording import Recording
from dragon.core.capture.settings import captures, without_captures
from dragon.core.scopes import scope


@scope
def unnoticed(stack):
    """Have this thread's captures in progress not notice what a `with` block looks at."""
    for capture in reversed(captures()):
        stack.callback(capture.trace.start)
        capture.trace.stop()


@scope
def aside(stack):
    """Have this thread's captures in progress look away within a `with` block.

    What is done in the block is done now and not again when the graph runs. Where a call is written down that was made
    before, there is no graph: the block must not be run twice.
    """
    running = captures()
    if running and not isinstance(running[0], Recording):
        raise NoGraph("it does something once, outside of the graph")
    stack.switch(modes.set_phantom, False)
    stack.enter(unnoticed())
    stack.enter(without_captures())
