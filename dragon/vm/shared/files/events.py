"""Event files, which TensorBoard shows: scalars, pictures, histograms, text and sounds by step.

`tf.summary` and Keras's TensorBoard callback write through the same class.
"""
import itertools
import os
import socket
import threading
import time
import weakref

from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.files.records import TFRecordWriter, make_folder
from dragon.vm.shared.files.tensor_proto import TensorProto, make_proto
from dragon.vm.shared.tensors.convert import convert_to_tensor

PluginData = make_message("PluginData", "Which part of TensorBoard shows a value.", plugin_name=Field(1, "string"),
                          content=Field(2, "bytes"))
SummaryMetadata = make_message(
    "SummaryMetadata", "How a value is shown.", plugin_data=Field(1, PluginData), display_name=Field(2, "string"),
    summary_description=Field(3, "string"), data_class=Field(4, "enum"))
Value = make_message(
    "Value", "One value.", tag=Field(1, "string"), simple_value=Field(2, "float", oneof="value"),
    node_name=Field(7, "string"), tensor=Field(8, TensorProto, oneof="value"), metadata=Field(9, SummaryMetadata))
Summary = make_message("Summary", "Values of one step.", value=Field(1, Value, True))
SourceMetadata = make_message("SourceMetadata", "Who wrote a file.", writer=Field(1, "string"))
Event = make_message(
    "Event", "What happened at a time.", wall_time=Field(1, "double"), step=Field(2, "int64"),
    file_version=Field(3, "string", oneof="what"), graph_def=Field(4, "bytes", oneof="what"),
    summary=Field(5, Summary, oneof="what"), source_metadata=Field(10, SourceMetadata))
for _kind in (PluginData, SummaryMetadata, Value, Summary, SourceMetadata, Event):
    _kind.__module__ = __name__

BUCKETS = 30
FLUSH_SECONDS = 120.0
WAV = 11  # TensorBoard's number of the encoding of sounds
_numbers = itertools.count()


class EventWriter:
    """Write events into a new file of a folder.

    Parameters
    ----------
    logdir : str
        The folder; it is made if there is none.
    filename_suffix : str, optional, default=".v2"
        How the file's name ends.
    flush_seconds : float, optional
        After how long what is written is visible to others at the latest.

    """

    def __init__(self, logdir, filename_suffix=".v2", flush_seconds=FLUSH_SECONDS):
        self.logdir = os.fsdecode(logdir)
        make_folder(self.logdir)
        name = (f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
                f"{filename_suffix}")
        self.path = os.path.join(self.logdir, name)
        self._records = TFRecordWriter(self.path)
        self._lock, self._flush_seconds, self._flushed = threading.Lock(), flush_seconds, time.monotonic()
        self._finalize = weakref.finalize(self, TFRecordWriter.close, self._records)
        first = Event(wall_time=time.time(), file_version="brain.Event:2")
        first.source_metadata.writer = __name__
        self._records.write(first.SerializeToString())

    closed = property(lambda self: not self._finalize.alive, doc="bool: whether the file has ended.")

    def write(self, event):
        """Append an event."""
        with self._lock:
            self._records.write(event.SerializeToString())
            if time.monotonic() - self._flushed > self._flush_seconds:
                self._records.flush()
                self._flushed = time.monotonic()

    def add(self, tag, tensor, step, metadata):
        """Append a value that a tensor holds.

        Parameters
        ----------
        tag : str
            What the value is called.
        tensor : Union[Tensor, TensorProto]
            The value.
        step : int
            When it was so.
        metadata : Union[SummaryMetadata, bytes]
            How it is shown.

        """
        value = Value(tag=tag)
        value.tensor.CopyFrom(tensor if isinstance(tensor, TensorProto) else make_proto(tensor))
        if metadata is not None:
            value.metadata.ParseFromString(metadata if isinstance(metadata, bytes) else metadata.SerializeToString())
        event = Event(wall_time=time.time(), step=int(step))
        event.summary.value.append(value)
        self.write(event)

    def scalar(self, tag, value, step, description=None):
        """Append a number."""
        import numpy as np
        number = np.float32(value.numpy() if hasattr(value, "numpy") else value)
        if number.ndim:
            raise ValueError(f"scalar: expected a number. Received: a value of shape {number.shape} for {tag!r}")
        self.add(tag, wrap_array(np.array(number)), step, describe("scalars", description))

    def histogram(self, tag, values, step, buckets=None, description=None):
        """Append how often numbers are of which size."""
        table = count_buckets(_array(values), BUCKETS if buckets is None else int(buckets))
        self.add(tag, wrap_array(table), step, describe("histograms", description))

    def image(self, tag, images, step, max_outputs=3, description=None):
        """Append pictures [number, height, width, channels]; floats are between 0 and 1."""
        self.add(tag, pack_images(_array(images), int(max_outputs)), step, describe("images", description))

    def text(self, tag, value, step, description=None):
        """Append text, or a table of text."""
        self.add(tag, convert_to_tensor(value), step, describe("text", description))

    def audio(self, tag, sounds, sample_rate, step, max_outputs=3, description=None):
        """Append sounds [number, frames, channels] of numbers between -1 and 1."""
        tensor = pack_sounds(_array(sounds), int(sample_rate), int(max_outputs))
        # The second field tells the encoding.
        self.add(tag, tensor, step, describe("audio", description, bytes((2 << 3, WAV))))

    def graph(self, graph_def):
        """Append the bytes of a `GraphDef`."""
        data = graph_def if isinstance(graph_def, bytes) else graph_def.SerializeToString()
        self.write(Event(wall_time=time.time(), graph_def=data))

    def flush(self):
        """Make what is written visible to others."""
        if not self.closed:
            with self._lock:
                self._records.flush()

    def close(self):
        """End the file."""
        self._finalize()


def _array(value):
    import numpy as np
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def describe(plugin, description=None, content=b""):
    """Return how a value is shown."""
    metadata = SummaryMetadata()
    if description:
        metadata.summary_description = description
    metadata.plugin_data.plugin_name = plugin
    if content:
        metadata.plugin_data.content = content
    return metadata


def count_buckets(values, count):
    """Return an array [buckets, 3] of where buckets begin, where they end, and how many numbers they hold."""
    import numpy as np
    values = values.astype(np.float64).reshape(-1)
    if not values.size or not count:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    if low == high:
        # All in the last bucket, each of which is the same number.
        table = np.full((count, 3), low)
        table[:, 2] = 0
        table[-1, 2] = values.size
        return np.stack([np.full(count, low - 0.5), np.full(count, low + 0.5), table[:, 2]], 1)
    width = (high - low) / count
    numbers = np.minimum(((values - low) / width).astype(np.int64), count - 1)
    edges = np.linspace(low, high, count + 1)
    return np.stack([edges[:-1], edges[1:], np.bincount(numbers, minlength=count)], 1)


def pack_images(images, most):
    """Return pictures as a tensor of their width, their height and their files."""
    import numpy as np
    from dragon.vm.shared.files.pictures import encode
    if images.ndim != 4:
        raise ValueError(f"image: expected [number, height, width, channels]. Received: shape {images.shape}")
    if images.dtype != np.uint8:
        images = (np.clip(images.astype(np.float32), 0, 1) * 255.5).clip(0, 255).astype(np.uint8)
    files = array_of(encode(images[:most], "PNG", "image")).tolist()
    return convert_to_tensor([str(images.shape[2]), str(images.shape[1]), *files])


def pack_sounds(sounds, rate, most):
    """Return sounds as a tensor [number, 2] of files in the format WAV and empty labels."""
    import numpy as np
    if sounds.ndim != 3:
        raise ValueError(f"audio: expected [number, frames, channels]. Received: shape {sounds.shape}")
    from dragon.vm.shared.files.sounds import encode_wav
    return convert_to_tensor([[encode_wav(sound, rate), b""] for sound in sounds[:most]]) if len(sounds) else (
        wrap_array(np.empty((0, 2), object)))
