"""Checkpoints in folders: files of shards, and `.metadata`, which names them and replaces the one before at once.

A checkpoint counts from the moment its `.metadata` is renamed into place. Until then nothing of the one before is
touched: new shards go to files of new names, are synced, and only then the list is. So a process that is killed, or a
disk that is full, leaves the checkpoint before readable. Files that no list names are removed by whoever saves next.
"""
import contextlib
import dataclasses
import os
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.files.pickler import StorageBook, dump
from dragon.vm.torch.distributed.checkpoint._file_systems import FileSystem, FileSystemBase, _sync  # noqa: F401
from dragon.vm.torch.distributed.checkpoint._filesystem_reader import FileSystemReader, _metadata_fn  # noqa: F401
from dragon.vm.torch.distributed.checkpoint.metadata import StorageMeta
from dragon.vm.torch.distributed.checkpoint.planner import WriteItemType
from dragon.vm.torch.distributed.checkpoint.staging import BlockingAsyncStager
from dragon.vm.torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from dragon.vm.torch.futures import Future

CURRENT_DCP_VERSION = "1.0.0"
DEFAULT_SUFFIX = ".distcp"
_PROTOCOL = 4  # of pickles


@dataclass
class _StorageInfo:
    """Where an item lies."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: list | None = None

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass
class _StoragePrefix:
    """The beginning of the names of a process's files."""

    prefix: str


class SerializationFormat(Enum):
    """What tensors are written as."""

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


def _share_out(count, items):
    """Return items in so many lists of about one size."""
    lists, loads = [[] for _ in range(count)], [0] * count
    for item in sorted(items, key=lambda item: item.tensor_storage_size() or 0, reverse=True):
        lightest = min(range(count), key=lambda number: (loads[number], len(lists[number])))
        lists[lightest].append(item)
        loads[lightest] += item.tensor_storage_size() or 0
    return lists


class _FileSystemWriter(StorageWriter):
    """Writes checkpoints into folders.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The folder.
    single_file_per_rank : bool, optional, default=True
        Whether a process writes one file for each of its threads; one for each item otherwise.
    sync_files : bool, optional, default=True
        Whether files are on the disk before they count.
    thread_count : int, optional, default=1
        How many threads write.
    per_thread_copy_ahead : int, optional
        Accepted: tensors need not come from an accelerator first.
    overwrite : bool, optional, default=True
        Whether a checkpoint that is there may be replaced.
    _extensions : Sequence, optional
        Raises: streams are written as they are.
    serialization_format : SerializationFormat, optional, default=SerializationFormat.TORCH_SAVE
        What tensors are written as.

    """

    def __init__(self, path, single_file_per_rank=True, sync_files=True, thread_count=1,
                 per_thread_copy_ahead=10_000_000, overwrite=True, _extensions=None,
                 serialization_format=SerializationFormat.TORCH_SAVE):
        if _extensions or serialization_format != SerializationFormat.TORCH_SAVE:
            raise NotImplementedError(f"FileSystemWriter: got _extensions={_extensions} and {serialization_format}, "
                                      "expected none and SerializationFormat.TORCH_SAVE")
        if thread_count < 1:
            raise ValueError(f"FileSystemWriter: got thread_count={thread_count}, expected 1 or more")
        self.fs = FileSystem()
        self.path = self.fs.init_path(path)
        self.single_file_per_rank, self.sync_files = single_file_per_rank, sync_files
        self.thread_count, self.per_thread_copy_ahead = thread_count, per_thread_copy_ahead
        self.overwrite, self.serialization_format = overwrite, serialization_format
        self.rank, self.use_collectives = None, True
        self._made = []
        self.reset()

    def reset(self, checkpoint_id=None):
        """Begin another checkpoint."""
        if checkpoint_id:
            self.path = self.fs.init_path(checkpoint_id)
        self.save_id = str(uuid.uuid4())
        self._made = []

    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        """Begin, with this process's `rank` and whether it works with others (`use_collectives`)."""
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)
        self._made = []

    def _is_alone(self):
        """Return whether each process writes a list of its own."""
        return self.rank is not None and not self.use_collectives

    def _get_metadata_path(self, rank=None):
        return self.fs.concat_path(self.path, _metadata_fn if rank is None else f"__{rank}{_metadata_fn}")

    def prepare_local_plan(self, plan):
        """Make the folder, and look whether a checkpoint is there."""
        self.fs.mkdir(self.path)
        if self.fs.exists(self._get_metadata_path(None if self.use_collectives else 0)):
            if not self.overwrite:
                raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite}.")
            warnings.warn(f"Detected an existing checkpoint in {self.path}, overwriting since self.overwrite="
                          f"{self.overwrite}. Past version 2.5 of PyTorch, `overwrite` will default to False. Set this "
                          "variable to True to maintain this functionality or False to raise when an existing "
                          "checkpoint is found.")
        return dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{self.rank}_")) if self._is_alone() else plan

    def prepare_global_plan(self, plans):
        """Give each process's files their beginning."""
        return [plan if plan.storage_data is not None else
                dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{rank}_")) for rank, plan in enumerate(plans)]

    def _names(self, pattern):
        """Return the names of the folder's files that are of a pattern."""
        found = map(os.path.basename, self.fs.ls(self.path) if hasattr(self.fs, "ls") else ())
        return [name for name in found if re.fullmatch(pattern, name)]

    def write_data(self, plan, planner):
        """Write a process's items; return a future of their results."""
        prefix = plan.storage_data.prefix
        suffix = re.escape(DEFAULT_SUFFIX)
        taken = [int(re.fullmatch(rf".*_(\d+){suffix}", name)[1])
                 for name in self._names(rf"{re.escape(prefix)}\d+{suffix}")]
        first = max(taken, default=-1) + 1
        if not self.single_file_per_rank:
            lists = [[item] for item in plan.items]
        else:
            lists = [plan.items] if self.thread_count == 1 else _share_out(self.thread_count, plan.items)
        names = [f"{prefix}{first + number}{DEFAULT_SUFFIX}" for number in range(len(lists))]
        if self.thread_count == 1:
            results = [self._write_file(*pair, planner) for pair in zip(names, lists)]
        else:
            with ThreadPoolExecutor(self.thread_count) as threads:
                results = list(threads.map(lambda pair: self._write_file(*pair, planner), zip(names, lists)))
        done = Future()
        done.set_result([result for some in results for result in some])
        return done

    def _write_file(self, name, items, planner):
        """Write items to a file; return their results. Objects come before tensors."""
        path = self.fs.concat_path(self.path, name)
        self._made.append(path)
        results = []
        with self.fs.create_stream(path, "wb") as stream:
            for item in sorted(items, key=lambda item: item.type != WriteItemType.BYTE_IO):
                data, offset = planner.resolve_data(item), stream.tell()
                if item.type == WriteItemType.BYTE_IO:
                    stream.write(data.getbuffer())
                else:
                    torch.save(_alone(data), stream)
                length = stream.tell() - offset
                results.append(WriteResult(item.index, length, _StorageInfo(name, offset, length)))
            if self.sync_files:
                _sync(stream)
        return results

    def abandon(self):
        """Remove what has been written of a checkpoint that came to nothing."""
        for path in self._made:
            with contextlib.suppress(OSError):
                self.fs.rm_file(path)
        self._made = []

    def finish(self, metadata, results):
        """Write the list of contents, put it in the place of the one before, and remove what that one named."""
        metadata.version, metadata.storage_meta = CURRENT_DCP_VERSION, self.storage_meta()
        metadata.storage_data = {result.index: result.storage_data for some in results for result in some}
        place = self._get_metadata_path(self.rank if self._is_alone() else None)
        beside = self.fs.concat_path(self.path, f"{os.path.basename(place)}.tmp")
        self._made.append(beside)
        with self.fs.create_stream(beside, "wb") as stream:
            stream.write(dump(metadata, StorageBook(), _PROTOCOL))
            if self.sync_files:
                _sync(stream)
        self._sync_folder()
        self.fs.rename(beside, place)
        self._made = []  # from here on the checkpoint counts, whatever comes
        with contextlib.suppress(OSError):
            self._sync_folder()
        self._remove_others({info.relative_path for info in metadata.storage_data.values()})

    def _sync_folder(self):
        if self.sync_files and hasattr(self.fs, "sync_folder"):
            self.fs.sync_folder(self.path)

    def _remove_others(self, named):
        """Remove files of shards that the list of contents does not name."""
        rank = self.rank if self._is_alone() else r"\d+"
        patterns = [rf"__{rank}_\d+{re.escape(DEFAULT_SUFFIX)}"]
        if not self._is_alone():
            patterns.append(rf"__\d+{re.escape(_metadata_fn)}(\.tmp)?")
        for name in self._names("|".join(patterns)):
            if name not in named:
                with contextlib.suppress(OSError):
                    self.fs.rm_file(self.fs.concat_path(self.path, name))

    def storage_meta(self):
        """Return which checkpoint this is."""
        return StorageMeta(checkpoint_id=self.checkpoint_id, save_id=self.save_id)

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether a checkpoint can have that path."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)


def _alone(tensor):
    """Return a tensor whose memory has nothing but its numbers."""
    tensor = tensor.detach().cpu()
    return tensor if tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size() else tensor.clone()


class FileSystemWriter(_FileSystemWriter, BlockingAsyncStager):
    """Writes checkpoints into folders, and copies states before `async_save` does.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The folder.
    single_file_per_rank : bool, optional, default=True
        Whether a process writes one file for each of its threads; one for each item otherwise.
    sync_files : bool, optional, default=True
        Whether files are on the disk before they count.
    thread_count : int, optional, default=1
        How many threads write.
    per_thread_copy_ahead : int, optional
        Accepted: tensors need not come from an accelerator first.
    cache_staged_state_dict : bool, optional, default=False
        Whether the memory of copies is kept for the next time.
    overwrite : bool, optional, default=True
        Whether a checkpoint that is there may be replaced.
    _extensions : Sequence, optional
        Raises: streams are written as they are.
    serialization_format : SerializationFormat, optional, default=SerializationFormat.TORCH_SAVE
        What tensors are written as.

    """

    def __init__(self, path, single_file_per_rank=True, sync_files=True, thread_count=1,
                 per_thread_copy_ahead=10_000_000, cache_staged_state_dict=False, overwrite=True, _extensions=None,
                 serialization_format=SerializationFormat.TORCH_SAVE):
        _FileSystemWriter.__init__(self, path, single_file_per_rank, sync_files, thread_count, per_thread_copy_ahead,
                                   overwrite, _extensions, serialization_format)
        BlockingAsyncStager.__init__(self, cache_staged_state_dict)
