"""TFRecord files as TensorFlow names them, their options and their troubles."""
import os
import zlib

from dragon.core.files import most_held
from dragon.io.sources import tfrecord
from dragon.io.sources.compressed import Inflated
from dragon.io.sources.tfrecord import walk_records
from dragon.vm.shared import errors
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.naming import known_as

COMPRESSIONS = ("", "GZIP", "ZLIB")


def check_compression(value, who):
    """Return a kind of compression by name, or raise."""
    value = value.numpy() if hasattr(value, "numpy") else value
    value = "" if value is None else value.decode() if isinstance(value, bytes) else value
    if value not in COMPRESSIONS:
        raise errors.InvalidArgumentError(None, None,
                                          f"{who}: compression_type must be one of {COMPRESSIONS}. Received: {value!r}")
    return value


def make_folder(path):
    """Make a folder and those it is in, unless they are there."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        kind = errors.PermissionDeniedError if isinstance(error, PermissionError) else errors.FailedPreconditionError
        raise kind(None, None, f"{path}; {error.strerror}") from None


def open_source(path, compression="", buffering=1 << 18):
    """Return a file to read bytes from, whatever it is compressed with."""
    with translated(path):
        file = open(path, "rb", buffering=buffering)
    return Inflated(file, compression.lower(), _lost) if compression else file


def most_of(path, compression):
    """Return how many bytes a piece of a compressed file may have; None of one that is not compressed."""
    return most_held(os.path.getsize(path)) if compression else None


def _lost(what):
    return errors.DataLossError(None, None, what)


def read_records(path, compression="", buffering=1 << 18, check=True):
    """Yield the records of a file as bytes.

    Parameters
    ----------
    path : str
        The file.
    compression : str, optional, default=""
        One of "", "GZIP" and "ZLIB".
    buffering : int, optional
        How many bytes are read at a time.
    check : bool, optional, default=True
        Whether the checksums of the records are compared.

    """
    def complain(what, place, of_length):
        if what == "longer than its file can hold":
            return _lost(f"record at {place} is {what}")
        return _lost(f"{what} record at {place}" + " (Is this even a TFRecord file?)" * of_length)
    file = open_source(path, compression, buffering)
    try:
        yield from walk_records(file, complain, buffering, check, os.path.getsize(path) if compression else None)
    finally:
        file.close()


@known_as("tensorflow.io")
class TFRecordOptions:
    """The way in which a TFRecord file is written.

    Parameters
    ----------
    compression_type : str, optional
        "GZIP", "ZLIB", or "" for none.
    flush_mode : int, optional
        zlib's flush mode; None for its usual one.
    input_buffer_size : int, optional
        Not used: buffers have the system's size.
    output_buffer_size : int, optional
        Not used.
    window_bits : int, optional
        The size of zlib's window, as a power of two.
    compression_level : int, optional
        From 0 to 9.
    compression_method : int, optional
        zlib knows one, 8.
    mem_level : int, optional
        How much memory zlib takes, from 1 to 9.
    compression_strategy : int, optional
        zlib's strategy.

    """

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type, self.flush_mode = compression_type, flush_mode
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.window_bits, self.compression_level = window_bits, compression_level
        self.compression_method, self.mem_level = compression_method, mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """Return the name of the compression that options, a name or a number ask for."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options not in COMPRESSIONS:
            raise ValueError(f"compression_type must be one of {COMPRESSIONS}. Received: {options!r}")
        return options

    def make_compressor(self, kind):
        """Return zlib's object that compresses."""
        def chosen(value, default):
            return default if value is None else value
        bits = chosen(self.window_bits, 15) + (16 if kind == "GZIP" else 0)
        return zlib.compressobj(chosen(self.compression_level, -1), chosen(self.compression_method, zlib.DEFLATED),
                                bits, chosen(self.mem_level, 8), chosen(self.compression_strategy, 0))


@known_as("tensorflow.io")
class TFRecordWriter(tfrecord.TFRecordWriter):
    """Write records into a file, which grows with each: of one whose writer died, all whole records can be read.

    Parameters
    ----------
    path : str
        The file; what it holds is replaced.
    options : Union[TFRecordOptions, str], optional
        How it is compressed.

    """

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        kind = TFRecordOptions.get_compression_type_string(options)
        path = path.numpy() if hasattr(path, "numpy") else path
        with translated(path):
            file = open(os.fsdecode(path), "wb")
        self._begin(file, options.make_compressor(kind) if kind else None)

    def write(self, record):
        """Append a record.

        Parameters
        ----------
        record : bytes
            The record; a scalar tensor of dtype string will do.

        """
        record = record.numpy() if hasattr(record, "numpy") else record
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"TFRecordWriter.write: a record must be bytes. Received: {record!r}")
        super().write(record)

    def _check_open(self):
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
