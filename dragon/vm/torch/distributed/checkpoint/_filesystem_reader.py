"""Reading checkpoints from folders."""
import io
import uuid

from dragon.vm import torch
from dragon.vm.torch._weights_only_unpickler import Unpickler
from dragon.vm.torch.core.files.trusted import Trust
from dragon.vm.torch.distributed.checkpoint._file_systems import FileSystem
from dragon.vm.torch.distributed.checkpoint.metadata import StorageMeta
from dragon.vm.torch.distributed.checkpoint.planner import LoadItemType
from dragon.vm.torch.distributed.checkpoint.storage import StorageReader
from dragon.vm.torch.distributed.checkpoint.utils import _ReaderView, narrow
from dragon.vm.torch.futures import Future

_metadata_fn = ".metadata"


def _check_inside(name):
    """Raise for the name of a file that is not below a checkpoint's folder."""
    if not isinstance(name, str) or not name or name.startswith("/") or "\0" in name or ".." in name.split("/"):
        raise ValueError(f"FileSystemReader: got a list of contents that names {name!r}, expected files of its folder")


class FileSystemReader(StorageReader):
    """Reads checkpoints from folders.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The folder.
    _extension_registry : ExtensionRegistry, optional
        Raises: streams are read as they are.

    """

    def __init__(self, path, _extension_registry=None):
        if _extension_registry is not None:
            raise NotImplementedError(f"FileSystemReader: got _extension_registry={_extension_registry}, expected None")
        self.fs = FileSystem()
        self.path = self.fs.init_path(path)
        self.rank, self.use_collectives = None, True
        self.reset()

    def reset(self, checkpoint_id=None):
        """Begin another checkpoint."""
        if checkpoint_id:
            self.path = self.fs.init_path(checkpoint_id)
        self.storage_data, self.load_id = {}, str(uuid.uuid4())

    def read_metadata(self, *args, **kwargs):
        """Return the list of contents; with a `rank`, that process's own."""
        rank = kwargs.get("rank")
        path = self.fs.concat_path(self.path, _metadata_fn if rank is None else f"__{rank}{_metadata_fn}")
        with self.fs.create_stream(path, "rb") as stream:
            metadata = Unpickler(io.BytesIO(stream.read()), trust=Trust(False)).load()
        if getattr(metadata, "storage_meta", None) is None:
            metadata.storage_meta = StorageMeta()
        metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        """Begin with a list of contents."""
        self.storage_data = metadata.storage_data
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)
        if self.storage_data is None:
            raise AssertionError("FileSystemReader: got a list of contents without storage_data, expected that of a "
                                 "FileSystemWriter")

    def prepare_local_plan(self, plan):
        """Return the plan as it came."""
        return plan

    def prepare_global_plan(self, plans):
        """Return the plans as they came."""
        return plans

    def read_data(self, plan, planner):
        """Read a process's items; return a future that is done."""
        files = {}
        for item in plan.items:
            info = self.storage_data[item.storage_index]
            _check_inside(info.relative_path)
            files.setdefault(info.relative_path, []).append((info.offset, item, info))
        for name, items in files.items():
            with self.fs.create_stream(self.fs.concat_path(self.path, name), "rb") as stream:
                known = None
                for offset, item, info in sorted(items, key=lambda entry: entry[0]):
                    if info.__dict__.get("transform_descriptors"):
                        raise NotImplementedError(f"FileSystemReader: got {name} written through "
                                                  f"{info.transform_descriptors}, expected bytes as they are")
                    view = _ReaderView(stream, offset, info.length)
                    if item.type == LoadItemType.BYTE_IO:
                        planner.load_bytes(item, io.BytesIO(view.read()))
                        continue
                    if known is None or known[0] != offset:  # several parts of one shard may be wanted
                        known = offset, torch.load(view, map_location="cpu", weights_only=True)
                    _fill(planner, item, known[1])
        done = Future()
        done.set_result(None)
        return done

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether a checkpoint can have that path."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)


def _fill(planner, item, saved):
    """Copy the part of a saved tensor that an item wants to where it goes."""
    part, target = narrow(saved, item.storage_offsets, item.lengths), planner.resolve_tensor(item).detach()
    if target.size() != part.size():
        raise AssertionError(f"req {item.storage_index} mismatch sizes {target.size()} vs {part.size()}")
    target.copy_(part)
    planner.commit_tensor(item, target)
