"""The present writer of summaries, its step, and whether it writes."""
import threading

from dragon.core.scopes import contextmanager
from dragon.vm.shared.files.events import EventWriter, FLUSH_SECONDS
from dragon.vm.shared.tensors.convert import convert_to_tensor


class _State(threading.local):
    """The settings of a thread's summaries."""

    def __init__(self):
        self.writer = self.step = None
        self.condition, self.scope = True, ""

    def tag(self, name):
        """Return the name of a summary with the scope's before it."""
        from dragon.vm.tensorflow.core.module import get_current_name_scope
        scope = get_current_name_scope()
        return f"{scope + '/' if scope else ''}{self.scope}{name}"

    def is_recording(self):
        """Return whether there is a writer and the condition holds."""
        condition = self.condition() if callable(self.condition) else self.condition
        return self.writer is not None and bool(condition)

    def write(self, step, put):
        """Call a function with the writer's file and the step, if there is a writer; return whether there is."""
        if not self.is_recording():
            return convert_to_tensor(False)
        step = self.step if step is None else step
        if step is None:
            raise ValueError("No step set. Please specify one either through the `step` argument or through "
                             "tf.summary.experimental.set_step()")
        self.writer.put(put, int(step() if callable(step) else step))
        return convert_to_tensor(True)


state = _State()


class SummaryWriter:
    """A writer of summaries, made by `tf.summary.create_file_writer`."""

    def __init__(self, logdir, flush_millis=None, filename_suffix=None):
        self._events, self._closed = None, False
        if logdir is not None:
            self._events = EventWriter(logdir, ".v2" if filename_suffix is None else filename_suffix,
                                       FLUSH_SECONDS if flush_millis is None else flush_millis / 1000)

    def put(self, function, step):
        """Call a function with the file and the step."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._events is not None:
            function(self._events, step)

    @contextmanager
    def as_default(self, step=None):
        """Make this the present writer within the block, and `step` the step."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        before = state.writer, state.step
        state.writer = self
        if step is not None:
            state.step = step
        try:
            yield self
            self.flush()
        finally:
            state.writer, state.step = before

    def set_as_default(self, step=None):
        """Make this the present writer, and `step` the step."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        state.writer = self
        if step is not None:
            state.step = step

    def init(self):
        """Do nothing: a writer is ready when it is made."""

    def flush(self):
        """Make what is written visible to others."""
        if self._events is not None:
            self._events.flush()

    def close(self):
        """End the file."""
        if not self._closed:
            self._closed = True
            if self._events is not None:
                self._events.close()
