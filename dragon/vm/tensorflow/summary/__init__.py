"""`tf.summary`: what TensorBoard shows of a run."""
import contextlib as _contextlib

from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.tensorflow.core.summaries import SummaryWriter, state as _state


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):
    """Return a writer of events into a file of a folder.

    Parameters
    ----------
    logdir : str
        The folder.
    max_queue : int, optional
        Not used: events are written as they come.
    flush_millis : int, optional
        After how long events are visible to others at the latest; two minutes by default.
    filename_suffix : str, optional, default=".v2"
        How the file's name ends.
    experimental_trackable : bool, optional, default=False
        Not supported.
    experimental_mesh : Any, optional
        Not supported.

    """
    if experimental_trackable or experimental_mesh is not None:
        raise NotImplementedError("create_file_writer: experimental_trackable and experimental_mesh are not supported")
    logdir = logdir.numpy() if hasattr(logdir, "numpy") else logdir
    if logdir is None:
        raise ValueError("create_file_writer: Argument `logdir` cannot be None.")
    return SummaryWriter(logdir, flush_millis, filename_suffix)


def create_noop_writer():
    """Return a writer that writes nothing."""
    return SummaryWriter(None)


def flush(writer=None, name=None):
    """Make what a writer, by default the present one, has written visible to others."""
    writer = _state.writer if writer is None else writer
    if writer is not None:
        writer.flush()


@_contextlib.contextmanager
def record_if(condition):
    """Have the functions of this module write within the block only where a condition, or a function, is true."""
    before, _state.condition = _state.condition, condition
    try:
        yield
    finally:
        _state.condition = before


def should_record_summaries():
    """Return whether something would be written now, as a tensor."""
    return _convert(_state.is_recording())


def write(tag, tensor, step=None, metadata=None, name=None):
    """Write a tensor; returns whether there was a writer."""
    return _state.write(step, lambda events, now: events.add(
        tag, _convert(tensor() if callable(tensor) else tensor), now, metadata))


def scalar(name, data, step=None, description=None):
    """Write a number; returns whether there was a writer.

    Parameters
    ----------
    name : str
        What it is called.
    data : Tensor
        The number.
    step : int, optional
        When it was so; what `tf.summary.experimental.set_step` said by default.
    description : str, optional
        What TensorBoard tells of it.

    """
    return _state.write(step, lambda events, now: events.scalar(_state.tag(name), data, now, description))


def histogram(name, data, step=None, buckets=None, description=None):
    """Write how often numbers are of which size; returns whether there was a writer."""
    return _state.write(step, lambda events, now: events.histogram(_state.tag(name), data, now, buckets, description))


def image(name, data, step=None, max_outputs=3, description=None):
    """Write pictures [number, height, width, channels]; returns whether there was a writer."""
    return _state.write(step, lambda events, now: events.image(_state.tag(name), data, now, max_outputs, description))


def text(name, data, step=None, description=None):
    """Write text, which may hold Markdown; returns whether there was a writer."""
    return _state.write(step, lambda events, now: events.text(_state.tag(name), data, now, description))


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Write sounds [number, frames, channels] between -1 and 1; returns whether there was a writer."""
    if encoding not in (None, "wav"):
        raise ValueError(f"audio: Unknown encoding: {encoding!r}, expected None or 'wav'")
    return _state.write(step, lambda events, now: events.audio(
        _state.tag(name), data, sample_rate, now, max_outputs, description))


def graph(graph_data):
    """Write the bytes of a `GraphDef`; returns whether there was a writer."""
    return _state.write(0, lambda events, now: events.graph(graph_data))


_trace = []  # what is on: the graphs' trace or None, and whether calls are profiled


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Note the functions that are called from here on, for `trace_export`.

    Parameters
    ----------
    graph : bool, optional, default=True
        Whether their graphs are kept.
    profiler : bool, optional, default=False
        Whether calls are profiled.
    profiler_outdir : str, optional
        The folder of the profile; needed with `profiler`.

    """
    from dragon.vm.tensorflow.core.graph_traces import GraphTrace
    if profiler and profiler_outdir is None:
        raise ValueError("tf.summary.trace_on: got profiler=True without profiler_outdir, expected a folder")
    if _trace:
        from dragon.vm.tensorflow.core.flow.execution import get_logger
        get_logger().warning("Trace already enabled")
        return
    if profiler:
        from dragon.vm.tensorflow.profiler import experimental
        experimental.start(profiler_outdir)
    made = GraphTrace() if graph else None
    if made is not None:
        made.start()
    _trace.append((made, bool(profiler)))


def trace_off():
    """Note no more calls, and forget those that were noted."""
    if _trace:
        made, profiled = _trace.pop()
        if made is not None:
            made.stop()
        if profiled:
            from dragon.vm.tensorflow.profiler import experimental
            experimental.stop(save=False)


def trace_export(name, step=None, profiler_outdir=None):
    """Write the graphs of the functions that were called, and the profile; note no more calls.

    Parameters
    ----------
    name : str
        What the graphs are called.
    step : int, optional
        When it was so; what `tf.summary.experimental.set_step` said by default.
    profiler_outdir : str, optional
        Not used: `trace_on` was told the folder.

    """
    if not _trace:
        raise ValueError("tf.summary.trace_export: got no trace, expected tf.summary.trace_on before")
    made, profiled = _trace.pop()
    if made is not None:
        made.stop()
        _state.write(step, lambda events, now: made.write(events, _state.tag(name), now))
    if profiled:
        from dragon.vm.tensorflow.profiler import experimental
        experimental.stop()
