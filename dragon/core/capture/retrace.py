"""Double backward through a compiled call: the call is recorded as the program makes it, and run again with a history.

A plan's backward pass has no history. Where somebody wants one (`create_graph=True`, a tape around a tape), the
function is written down, once, over tensors without numbers; what it asked for is then done operator by operator, and
recorded.
"""
import threading
import weakref

from dragon import _C
from dragon.core import modes
from dragon.core.capture.procedure import doubt_of, write_down
from dragon.core.capture.recording import Recording
from dragon.core.capture.structure import Template
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack

GONE = "the function itself is gone; keep it as long as its results"


class Retrace:
    """What a captured call was, for whoever wants it done again.

    Parameters
    ----------
    recording : Recording
        The call, which has just been made.
    captured : _C.Capture
        What it came to.

    """

    def __init__(self, recording, captured):
        self._function, self._name, self._captured = recording.function, recording.name, captured
        self._arguments = Template((recording.args, recording.kwargs), merge=False)
        self._count = len(self._arguments.tensors)
        del self._arguments.tensors[:]
        self._tells = recording.tells
        self._kinds = [type(tensor) for tensor in recording.inputs]
        self._autocast = modes.autocast_dtype()
        self._found = None  # the procedure, or why there is none
        self._lock = threading.Lock()

    def serve(self, program):
        """Be asked where gradients of a program's gradients are wanted, for as long as this lives."""
        mine = weakref.ref(self)

        def ask(tensors):
            again = mine()
            return GONE if again is None else again.find(tensors)
        _C.set_asker(program, ask)

    def find(self, tensors):
        """Return the procedure of a call with these arguments, or a text that says why there is none."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = self._write_down(tensors)
                except Exception as error:  # the program may have changed by now
                    if is_interrupt(error):
                        raise
                    self._found = f"written down, it fails: {type(error).__name__}: {error}"
            return self._found

    def _write_down(self, tensors):
        if len(tensors) != self._count:
            return "its arguments hold tensors that no guard sees"
        given = [tensor if isinstance(tensor, kind) else _C.as_class(tensor, kind)
                 for tensor, kind in zip(tensors, self._kinds)]
        args, kwargs = self._arguments.fill(given)
        with ExitStack() as exits:
            exits.switch(modes.set_autocast, self._autocast)
            recording = Recording(self._function, args, kwargs, self._name)
            recording.met, recording.tells = recording.guards.met, self._tells
            if recording.failure or recording.inputs is None:
                return recording.failure or "what it depends on is changed by another thread"
            written = write_down(recording, [])
            if isinstance(written, str):
                return written
            return doubt_of(written[0], recording.inputs, self._captured) or written[0]
