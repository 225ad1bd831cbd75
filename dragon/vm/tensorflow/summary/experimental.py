"""`tf.summary.experimental`: the step that summaries belong to, and their names."""
import contextlib as _contextlib

from dragon.vm.tensorflow.core.summaries import state as _state


def get_step():
    """Return the step of summaries that do not say theirs, or None."""
    return _state.step


def set_step(step):
    """Set the step of summaries that do not say theirs; a variable is read each time."""
    _state.step = step


@_contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """Put a name before the names of summaries within the block; yields the tag and the scope's name."""
    before, name = _state.scope, name or default_name
    _state.scope = f"{before}{name}/"
    try:
        yield f"{before}{name}", _state.scope
    finally:
        _state.scope = before


def write_raw_pb(tensor, step=None, name=None):
    """Write the bytes of a summary; returns whether there was a writer."""
    from dragon.vm.shared.files.events import Event, Summary

    def put(events, now):
        import time
        data = tensor.numpy() if hasattr(tensor, "numpy") else tensor
        events.write(Event(wall_time=time.time(), step=int(now), summary=Summary.FromString(data)))
    return _state.write(step, put)
