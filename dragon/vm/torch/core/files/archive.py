"""Archives of records, as `torch.save` writes them: zip without compression, every record aligned."""
import io
import os
import struct
import zipfile
import zlib

from dragon.core.files import check_end, check_sizes, read_member

ALIGNMENT = 64
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
PADDING = b"FB"
PART = 1 << 20


class Corrupt(RuntimeError):
    """A file that is no archive, or a damaged one."""


class ArchiveWriter:
    """Write records one after another.

    Parameters
    ----------
    file : Union[str, PathLike, BinaryIO]
        Where.
    name : str
        The folder that all records lie in.

    """

    def __init__(self, file, name):
        self.zip = zipfile.ZipFile(_from_here(file), "w", zipfile.ZIP_STORED)
        self.name = name
        self.checksums = []

    def write(self, record, data):
        """Write one record: bytes, or anything with a buffer of them."""
        data = memoryview(data).cast("B")
        info = zipfile.ZipInfo(f"{self.name}/{record}")
        info.file_size = data.nbytes
        large = data.nbytes >= zipfile.ZIP64_LIMIT
        # The header that precedes the data is filled up so that the data starts at a multiple of the alignment.
        start = (self.zip.start_dir + LOCAL_HEADER.size + len(info.filename.encode()) + 4 + (20 if large else 0))
        fill = -start % ALIGNMENT
        info.extra = PADDING + struct.pack("<H", fill) + b"Z" * fill
        with self.zip.open(info, "w", force_zip64=large) as place:
            for begin in range(0, data.nbytes, 1 << 24):
                place.write(data[begin:begin + (1 << 24)])
        info.extra = b""  # the directory at the end needs no filling
        self.checksums.append(info.CRC)

    def close(self):
        """Write the directory."""
        self.zip.close()


class _FileFromHere:
    """An open file whose places are counted from where it stands.

    Parameters
    ----------
    file : BinaryIO
        The file.
    start : int
        Where it stands.

    """

    def __init__(self, file, start):
        self._file, self._start = file, start
        self.write, self.flush = file.write, file.flush

    def seekable(self):
        """Return True."""
        return True

    def tell(self):
        """Return the place."""
        return self._file.tell() - self._start

    def seek(self, offset, whence=os.SEEK_SET):
        """Go to a place; return it."""
        return self._file.seek(offset + (self._start if whence == os.SEEK_SET else 0), whence) - self._start


def _from_here(file):
    """Return a file in which an archive may begin: archives count from their own beginning, whatever is before them."""
    try:
        start = file.tell() if file.seekable() else 0
    except (AttributeError, OSError):
        start = 0
    return _FileFromHere(file, start) if start else file


class ArchiveReader:
    """Read records by name.

    Parameters
    ----------
    file : BinaryIO
        A seekable file.
    checksums : bool, optional, default=True
        Whether to verify the records' CRC-32.

    """

    def __init__(self, file, checksums=True):
        self.file, self.checksums = file, checksums
        check_end(file)
        try:
            self.zip = zipfile.ZipFile(file)
            self.bytes = file.seek(0, os.SEEK_END)
        except (zipfile.BadZipFile, ValueError, EOFError, struct.error, UnicodeDecodeError, NotImplementedError,
                OverflowError, OSError) as error:
            raise Corrupt(f"load: got a file that starts as a zip archive but is not a whole one ({error}), "
                          "expected what torch.save wrote. PytorchStreamReader failed reading zip archive") from error
        check_sizes(self.zip, self.bytes, Corrupt, "load")
        self.entries = {}
        for info in self.zip.infolist():
            folder, _, record = info.filename.partition("/")
            self.entries[record] = info
            self.name = folder

    def __contains__(self, record):
        return record in self.entries

    def find(self, record):
        """Return a record's entry in the directory."""
        if record not in self.entries:
            raise Corrupt(f"load: got an archive without the record {record!r}, expected what torch.save wrote")
        return self.entries[record]

    def place(self, record):
        """Return where a record's data starts and ends in the file."""
        info = self.find(record)
        inside = 0 <= info.header_offset <= self.bytes
        self.file.seek(info.header_offset if inside else self.bytes)
        header = self.file.read(LOCAL_HEADER.size)
        if len(header) != LOCAL_HEADER.size or header[:4] != b"PK\3\4":
            raise Corrupt(f"load: got no header where the record {record!r} should start: the file is damaged")
        *_, name_bytes, extra_bytes = LOCAL_HEADER.unpack(header)
        start = info.header_offset + LOCAL_HEADER.size + name_bytes + extra_bytes
        if info.compress_type == zipfile.ZIP_STORED and (
                info.file_size != info.compress_size or start + info.file_size > self.bytes):
            raise Corrupt(f"load: got {self.bytes - start} bytes for the record {record!r}, expected "
                          f"{info.file_size}: the file is cut off or damaged")
        return start, start + info.file_size

    def read(self, record):
        """Return a record's bytes."""
        start, end = self.place(record)
        info = self.find(record)
        if info.compress_type != zipfile.ZIP_STORED:
            return self.read_packed(info)
        self.file.seek(start)
        data = self.file.read(end - start)
        self.verify(info, data)
        return data

    def read_packed(self, info):
        """Return a record's bytes if somebody packed the archive anew with compression."""
        try:
            if info.flag_bits & 1:
                raise zipfile.BadZipFile("encryption")
            return read_member(self.zip, info)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise Corrupt(f"load: got a damaged record {info.filename!r} ({error})") from error

    def read_into(self, record, memory):
        """Fill a writable buffer of bytes with a record's."""
        start, end = self.place(record)
        info = self.find(record)
        if info.compress_type != zipfile.ZIP_STORED or not hasattr(self.file, "readinto"):
            memory[:] = self.read(record)
            return
        self.file.seek(start)
        filled = checksum = 0
        while filled < len(memory):
            # In parts that stay in the cache, so that the sum is taken of what has just been read.
            count = self.file.readinto(memory[filled:filled + PART])
            if not count:
                raise Corrupt(f"load: got {filled} bytes for the record {record!r}, expected {len(memory)}")
            checksum = zlib.crc32(memory[filled:filled + count], checksum) if self.checksums else info.CRC
            filled += count
        self.compare(info, checksum)

    def verify(self, info, data):
        """Raise unless a record's bytes have the CRC-32 that the directory says."""
        self.compare(info, zlib.crc32(data) if self.checksums else info.CRC)

    def compare(self, info, checksum):
        """Raise unless a checksum is the one that the directory says."""
        if checksum != info.CRC:
            raise Corrupt(f"load: got a damaged record {info.filename!r}: its CRC-32 is not the one written down")


def starts_archive(file):
    """Return whether a seekable file goes on with a zip archive."""
    place = file.tell()
    start = file.read(4)
    file.seek(place)
    return start == b"PK\3\4"


def whole(file):
    """Return a seekable file whose start is where the given one stands."""
    return file if file.tell() == 0 else io.BytesIO(file.read())
