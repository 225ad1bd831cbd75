"""Checkpoints in Hugging Face's files: whole tensors in `model-*.safetensors`, or each process's parts in `shard-*`."""
import dataclasses
import json
import os

from dragon.core.files import write
from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint import _safetensors
from dragon.vm.torch.distributed.checkpoint._filesystem_reader import FileSystemReader, _fill
from dragon.vm.torch.distributed.checkpoint.filesystem import FileSystemWriter, _sync
from dragon.vm.torch.distributed.checkpoint.metadata import (ChunkStorageMetadata, Metadata, MetadataIndex,
                                                             StorageMeta, TensorProperties, TensorStorageMetadata)
from dragon.vm.torch.distributed.checkpoint.planner import WriteItemType
from dragon.vm.torch.distributed.checkpoint.storage import WriteResult
from dragon.vm.torch.futures import Future

_INDEX = "model.safetensors.index.json"
_SUFFIX = ".safetensors"
_PARTS = "DCP_SHARDING_INFO"  # under this name files tell where their parts begin in the wholes
_SHARDED = "sharded"


@dataclasses.dataclass
class _HFStorageInfo:
    """Where a tensor lies.

    Parameters
    ----------
    relative_path : str
        The file.
    length : int
        How many bytes it has.

    """

    relative_path: str
    length: int = 0


def _file_name(index, last, shard=None):
    name = f"model-{index:05}-of-{last:05}{_SUFFIX}"
    return name if shard is None else f"shard-{shard:05}-{name}"


def _done(value=None):
    future = Future()
    future.set_result(value)
    return future


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes checkpoints in Hugging Face's files.

    Parameters
    ----------
    path : str
        The folder.
    fqn_to_index_mapping : Dict[str, int], optional
        Which file each tensor goes to, from 1 on; all go to one unless given.
    thread_count : int, optional, default=1
        Accepted: files are written one after another.
    save_distributed : bool, optional, default=False
        Whether each process writes its parts to files of its own.
    enable_consolidation : bool, optional, default=False
        Whether whole tensors are made of the parts, which lie in the folder `sharded` then.
    thread_count_consolidation : int, optional, default=1
        Accepted, as `thread_count`.

    """

    def __init__(self, path, fqn_to_index_mapping=None, thread_count=1, save_distributed=False,
                 enable_consolidation=False, thread_count_consolidation=1):
        super().__init__(path, thread_count=thread_count)
        self.fqn_to_index_mapping, self.save_distributed = fqn_to_index_mapping, save_distributed
        self.enable_consolidation, self.consolidated_output_path = enable_consolidation, None
        if enable_consolidation:
            self.consolidated_output_path = str(self.path)
            self.path = self.fs.concat_path(self.path, _SHARDED)

    def prepare_global_plan(self, plans):
        """Number the processes' files."""
        return [dataclasses.replace(plan, storage_data={"shard_index": rank if self.save_distributed else None})
                for rank, plan in enumerate(plans, 1)]

    def write_data(self, plan, planner):
        """Write a process's tensors; return a future of their results."""
        mapping, files, results = self.fqn_to_index_mapping, {}, []
        for item in plan.items:
            if item.type == WriteItemType.BYTE_IO:
                raise ValueError(f"HuggingFaceStorageWriter: got {item.index.fqn}, which is no tensor, expected "
                                 "tensors alone: the format has nothing else")
            files.setdefault(1 if mapping is None else mapping[item.index.fqn], []).append(item)
        last = max(mapping.values()) if mapping else 1
        for index, items in files.items():
            name = _file_name(index, last, plan.storage_data["shard_index"])
            tensors = {item.index.fqn: planner.resolve_data(item) for item in items}
            parts = {item.index.fqn: {"saved_offsets": list(item.tensor_data.chunk.offsets)} for item in items}
            self._write(name, tensors, {_PARTS: json.dumps(parts), "DCP_VERSION": "1.0", "format": "pt"})
            results += [WriteResult(item.index, 0, _HFStorageInfo(name, tensors[item.index.fqn].nbytes))
                        for item in items]
        return _done(results)

    def _write(self, name, tensors, texts):
        """Write a file beside the place where it belongs, and put it there."""
        beside = self.fs.concat_path(self.path, f"{name}.tmp")
        self._made.append(beside)
        with self.fs.create_stream(beside, "wb") as stream:
            _safetensors.write(stream, tensors, texts)
            _sync(stream)
        self.fs.rename(beside, self.fs.concat_path(self.path, name))

    def finish(self, metadata, results):
        """Write which file has which tensor; or make whole tensors of the parts."""
        if not self.save_distributed:
            return _write_index(self.path, {result.index.fqn: result.storage_data for some in results
                                            for result in some})
        if self.enable_consolidation:
            mapping = self.fqn_to_index_mapping or dict.fromkeys(metadata.state_dict_metadata, 1)
            consolidate_safetensors_files(str(self.path), self.consolidated_output_path, mapping)
        return None

    @property
    def metadata_path(self):
        """str: the name of the list of files."""
        return _INDEX


def _write_index(folder, places):
    """Write which file has which tensor."""
    index = {"metadata": {"total_size": sum(place.length for place in places.values())},
             "weight_map": {name: place.relative_path for name, place in places.items()}}
    write(os.path.join(folder, _INDEX), json.dumps(index, indent=2))


def consolidate_safetensors_files(input_dir, output_dir, fqn_to_index_mapping, num_threads=1):
    """Make whole tensors of parts.

    Parameters
    ----------
    input_dir : str
        The folder of the parts.
    output_dir : str
        The folder of the wholes.
    fqn_to_index_mapping : Dict[str, int]
        Which file each tensor goes to, from 1 on.
    num_threads : int, optional, default=1
        Accepted: files are written one after another.

    """
    from dragon.vm.torch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
    from dragon.vm.torch.distributed.checkpoint.state_dict_loader import _load_state_dict
    last, places = max(fqn_to_index_mapping.values()), {}
    writer = HuggingFaceStorageWriter(output_dir)
    for index in sorted(set(fqn_to_index_mapping.values())):
        names = {name for name, number in fqn_to_index_mapping.items() if number == index}
        tensors, name = {}, _file_name(index, last)
        _load_state_dict(tensors, HuggingFaceStorageReader(input_dir), no_dist=True,
                         planner=_EmptyStateDictLoadPlanner(names))
        writer._write(name, tensors, {"format": "pt"})
        places.update((key, _HFStorageInfo(name, tensor.nbytes)) for key, tensor in tensors.items())
    _write_index(output_dir, places)


class HuggingFaceStorageReader(FileSystemReader):
    """Reads checkpoints of Hugging Face's files: whole tensors, or parts.

    Parameters
    ----------
    path : str
        The folder.
    thread_count : int, optional, default=1
        Accepted: files are read one after another.

    """

    def __init__(self, path, thread_count=1):
        super().__init__(path)
        self.thread_count = thread_count

    def read_metadata(self):
        """Return a list of contents, of what the files tell."""
        contents, places = {}, {}
        for path in sorted(map(str, self.fs.ls(self.path))):
            if not path.endswith(_SUFFIX):
                continue
            with self.fs.create_stream(path, "rb") as stream:
                table, texts, _ = _safetensors.read_table(stream)
            parts = json.loads(texts.get(_PARTS, "{}"))
            for name, entry in table.items():
                offsets = parts.get(name, {}).get("saved_offsets", [0] * len(entry["shape"]))
                properties = TensorProperties(dtype=_safetensors.dtype_of(entry["dtype"]))
                known = contents.setdefault(name, TensorStorageMetadata(properties, torch.Size([0] * len(offsets)), []))
                known.chunks.append(ChunkStorageMetadata(torch.Size(offsets), torch.Size(entry["shape"])))
                known.size = torch.Size([max(size, begin + part) for size, begin, part
                                         in zip(known.size, offsets, entry["shape"])])
                places[MetadataIndex(name, offsets)] = _HFStorageInfo(path)
        return Metadata(contents, storage_data=places, storage_meta=StorageMeta(load_id=self.load_id))

    def read_data(self, plan, planner):
        """Read a process's tensors; return a future that is done."""
        files = {}
        for item in plan.items:
            files.setdefault(self.storage_data[item.storage_index].relative_path, []).append(item)
        for path, items in files.items():
            with self.fs.create_stream(path, "rb") as stream:
                table, _, start = _safetensors.read_table(stream)
                for item in items:
                    _fill(planner, item, _safetensors.read(stream, table[item.storage_index.fqn], start))
        return _done()
