"""Writing KPLRecord files: records are only ever added at the end."""
import contextlib
import errno
import fcntl
import os
import threading

import numpy as np

from dragon import _C
from dragon.io.records.packing import NUMBERS, PLAIN, number_of, pack
from dragon.io.records.shard import ALIGN, HEADER, INDEX, PLACE, SAMPLE, TRAILER, WHOLE, Shard, make_start
from dragon.io.sources.opened import LocalFile
from dragon.io.sources.remote import is_remote, local_path, open_file

# What is written waits until there is so much of it: a call of the system for each small record would take longer.
WAITING = 1 << 20
# What file systems say that know no locks: some of networks.
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class KPLRecordWriter:
    """Write samples into a file from which any of them can be read by its number.

    Of a writer that is killed, all samples are found again that were flushed.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The file; what it holds is replaced unless `append` is true.
    compression : str, optional
        "zlib", or "zstd" with the package zstandard; None for none. Records are compressed each for itself.
    metadata : dict, optional
        What is told of all samples: names of classes, the origin.
    append : bool, optional, default=False
        Whether to add to the samples of a file. Its compression and metadata stay what they are.
    sync : bool, optional, default=False
        Whether `flush` and `close` wait until the disk has what was written.

    """

    def __init__(self, path, compression=None, metadata=None, append=False, sync=False):
        self.path, self.sync = os.fsdecode(path), sync
        self._packing = number_of(compression, "KPLRecordWriter")
        self._process, self._file, self._failed, self._lock = os.getpid(), None, False, threading.RLock()
        if metadata is not None and not isinstance(metadata, dict):
            raise TypeError(f"KPLRecordWriter: got metadata of type {type(metadata).__name__}, expected a dict")
        self._frames = _C.RecordBuffer()
        self._frames.put_raw(make_start())
        # A refusal comes before anything is replaced.
        self._frames.put(HEADER, {"metadata": dict(metadata or {}), "compression": compression})
        self._file = self._open(append)
        try:
            is_new = not append or os.fstat(self._file.fileno()).st_size == 0
            if is_new:
                self._changed = True
                self.flush()
            else:
                self._continue(compression, metadata)
        except BaseException:
            self._file.close()
            raise

    def _open(self, append):
        if is_remote(self.path):
            if append:
                raise ValueError(f"KPLRecordWriter: got append=True for {self.path}, expected a file of this machine")
            return open_file(self.path, "wb")
        file = open(os.open(local_path(self.path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(11, f"KPLRecordWriter: got {self.path}, which another writer has open, expected one "
                                      f"writer at a time") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                file.close()
                raise
        if not append:
            file.truncate(0)
        return file

    def _continue(self, compression, metadata):
        """Go on behind the last byte of the file, whatever it is."""
        opened = LocalFile(self.path)
        shard = Shard(opened)
        header = shard.read_header(opened)
        if metadata is not None and metadata != header["metadata"]:
            raise ValueError(f"KPLRecordWriter: got other metadata than {self.path} has, expected none: it stays")
        kept = header.get("compression")
        if kept not in NUMBERS or compression not in (None, kept):
            raise ValueError(f"KPLRecordWriter: got compression {compression!r} for a file of {kept!r}, expected None "
                             f"or the same")
        self._packing = number_of(kept, "KPLRecordWriter")
        self._file.seek(0, os.SEEK_END)
        self._changed = shard.index_health != WHOLE
        self._frames = _C.RecordBuffer(shard.size, np.ascontiguousarray(shard.places, PLACE).tobytes())
        self._frames.put_raw(bytes(-shard.size % ALIGN))  # a writer that was killed may have ended anywhere

    def __len__(self):
        return len(self._frames)

    def write(self, sample):
        """Add a sample.

        Parameters
        ----------
        sample : Any
            Dicts, lists and tuples of NumPy arrays, bytes, text, numbers, booleans and None.

        Returns
        -------
        int
            Its number.

        """
        self._check_process()
        with self._lock:
            self._check()
            if self._packing == PLAIN:
                self._frames.put(SAMPLE, sample)
            else:
                body = _C.kpl_encode(sample)
                packing, packed = pack(self._packing, body, "KPLRecordWriter")
                self._frames.put_packed(SAMPLE, packing, len(body), packed)
            self._changed = True
            if self._frames.waiting >= WAITING:
                self._write()
            return len(self._frames) - 1

    def _check(self):
        if self._file is None:
            raise ValueError(f"KPLRecordWriter: got a sample for {self.path}, which is closed, expected an open writer")
        if self._failed:
            raise OSError(f"KPLRecordWriter: got a sample for {self.path} after a write that failed, expected none: "
                          f"what was written before can be read")

    def _check_process(self):
        """Raise in another process, in which nobody may ever let go of the lock."""
        if self._process != os.getpid():
            raise RuntimeError(f"KPLRecordWriter: got a sample for {self.path} in a process that did not open it, "
                               f"expected a writer in each process: write_parallel makes them")

    def _write(self):
        data = self._frames.take()
        try:
            while data:
                data = data[self._file.write(data):]
        except BaseException:
            self._failed = True  # nobody knows how much of it is there
            raise

    def flush(self):
        """Give the system all that was written; a process that is killed then loses nothing of it."""
        self._check_process()
        with self._lock:
            self._check()
            self._write()
            self._file.flush()
            if self.sync and not is_remote(self.path):
                os.fsync(self._file.fileno())

    def close(self):
        """Write the index and end the file."""
        with self._lock if self._process == os.getpid() else contextlib.nullcontext():
            if self._file is None:
                return
            try:
                if not self._failed and self._process == os.getpid():
                    if self._changed:
                        self._put_index()
                    self.flush()
            finally:
                self._file.close()
                self._file = None

    def _put_index(self):
        offset = self._frames.at
        size = self._frames.put(INDEX, np.frombuffer(self._frames.places(), PLACE).reshape(-1, 2))
        self._frames.put(TRAILER, np.array([offset, size], PLACE))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
