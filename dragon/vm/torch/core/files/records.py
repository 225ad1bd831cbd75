"""Archives record by record, as `torch.PyTorchFileReader`: for libraries that load files piece by piece."""
import os

from dragon.vm.torch.core.files.archive import ArchiveReader
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.storage import BYTE, UntypedStorage


class PyTorchFileReader:
    """The records of a file.

    Parameters
    ----------
    name_or_buffer : Union[str, PathLike, BinaryIO]
        The file.

    """

    def __init__(self, name_or_buffer):
        is_path = isinstance(name_or_buffer, (str, os.PathLike))
        self._reader = ArchiveReader(open(name_or_buffer, "rb") if is_path else name_or_buffer)

    def get_all_records(self):
        """Return the records' names."""
        return list(self._reader.entries)

    def has_record(self, name):
        """Return whether there is a record."""
        return name in self._reader

    def get_record(self, name):
        """Return a record's bytes."""
        return self._reader.read(name)

    def get_record_offset(self, name):
        """Return where a record's bytes start in the file."""
        return self._reader.place(name)[0]

    def get_storage_from_record(self, name, numel, dtype):
        """Return a record as a tensor, whose storage is what is wanted."""
        memory = ops.empty((numel * dtype.itemsize,), dtype=BYTE)
        self._reader.read_into(name, memoryview(memory))
        return UntypedStorage._over(memory).as_tensor(dtype)

    def serialization_id(self):
        """Return the file's number."""
        return self._reader.read(".data/serialization_id").decode()

    def archive_name(self):
        """Return the name of the folder that all records lie in."""
        return self._reader.name
