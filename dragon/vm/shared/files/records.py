"""TFRecord files: records with their lengths and checksums, plain or compressed."""
import os
import struct
import zlib

from dragon import _C
from dragon.core.files import may_hold
from dragon.vm.shared import errors
from dragon.vm.shared.naming import known_as

CHECK = struct.Struct("<I")
BROKEN_HEADER = 1  # what the engine says of a length that does not go with its checksum
COMPRESSIONS = ("", "GZIP", "ZLIB")
CHUNK = 1 << 18
MASK_STEP, LOW = 0xA282EAD8, 0xFFFFFFFF


def masked(data):
    """Return the CRC-32C of bytes, turned and moved so that it can be stored beside them."""
    value = _C.crc32c(data)
    return ((value >> 15 | value << 17) + MASK_STEP) & LOW


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


class Inflated:
    """A file of one zlib or gzip stream after the other, read as what was compressed."""

    def __init__(self, file, compression):
        self._file, self._bits = file, 31 if compression == "GZIP" else 15
        self._inflate = zlib.decompressobj(self._bits)

    def read(self, size):
        """Return the next bytes; fewer at the end."""
        pieces, missing = [], size
        while missing > 0:
            packed = self._inflate.unconsumed_tail or self._inflate.unused_data or self._file.read(CHUNK)
            if not packed:
                break
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._bits)
            try:
                # No more than is asked for, however much the next few bytes hold.
                pieces.append(self._inflate.decompress(packed, missing))
            except zlib.error as error:
                raise errors.DataLossError(None, None, f"inflate() failed: {error}") from None
            missing -= len(pieces[-1])
        return b"".join(pieces)

    def close(self):
        """Close the file."""
        self._file.close()


def open_source(path, compression="", buffering=1 << 18):
    """Return a file to read bytes from, whatever it is compressed with."""
    try:
        file = open(path, "rb", buffering=buffering)
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{os.fsdecode(path)}; No such file or directory") from None
    except IsADirectoryError:
        raise errors.FailedPreconditionError(None, None, f"{os.fsdecode(path)}; Is a directory") from None
    except PermissionError:
        raise errors.PermissionDeniedError(None, None, f"{os.fsdecode(path)}; Permission denied") from None
    return Inflated(file, compression) if compression else file


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
    file = open_source(path, compression, buffering)
    waiting, place = b"", 0
    try:
        # A record longer than a chunk is met with ever larger ones.
        while block := file.read(max(buffering, CHUNK, len(waiting))):
            waiting = waiting + block if waiting else block
            records, used, trouble = _C.split_records(waiting, check)
            yield from records
            place += used
            if trouble:
                hint = " (Is this even a TFRecord file?)" if trouble == BROKEN_HEADER else ""
                raise errors.DataLossError(None, None, f"corrupted record at {place}{hint}")
            waiting = waiting[used:]
            if compression and not may_hold(len(waiting), os.path.getsize(path)):
                raise errors.DataLossError(None, None, f"record at {place} is longer than its file can hold")
        if waiting:
            raise errors.DataLossError(None, None, f"truncated record at {place}")
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
class TFRecordWriter:
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
        self._compressor = options.make_compressor(kind) if kind else None
        path = path.numpy() if hasattr(path, "numpy") else path
        try:
            self._file = open(os.fsdecode(path), "wb")
        except FileNotFoundError:
            raise errors.NotFoundError(None, None, f"{os.fsdecode(path)}; No such file or directory") from None

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
        length = struct.pack("<Q", len(record))
        self._put(b"".join((length, CHECK.pack(masked(length)), record, CHECK.pack(masked(record)))))

    def _put(self, packed):
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        self._file.write(packed if self._compressor is None else self._compressor.compress(packed))

    def flush(self):
        """Write what waits to the file."""
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        if self._compressor is not None:
            self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self):
        """End the file."""
        if not self._file.closed:
            if self._compressor is not None:
                self._file.write(self._compressor.flush())
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
