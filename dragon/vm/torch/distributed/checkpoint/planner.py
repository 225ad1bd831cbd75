"""What each process writes or reads: plans, and those who make them."""
import abc
import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex, TensorProperties


class WriteItemType(Enum):
    """What is written: a whole tensor, a part of one, an object."""

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


class LoadItemType(Enum):
    """What is read: a part of a tensor, an object."""

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class BytesIOWriteData:
    """How much an object takes.

    Parameters
    ----------
    nbytes : int
        The number of bytes.

    """

    nbytes: int


@dataclass(frozen=True)
class TensorWriteData:
    """A part of a tensor that is written.

    Parameters
    ----------
    chunk : ChunkStorageMetadata
        Which part.
    properties : TensorProperties
        What the tensor is made with.
    size : torch.Size
        The whole tensor's shape.

    """

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: torch.Size


@dataclass(frozen=True)
class WriteItem:
    """One thing to write.

    Parameters
    ----------
    index : MetadataIndex
        Its name.
    type : WriteItemType
        Its kind.
    bytes_io_data : BytesIOWriteData, optional
        Of an object.
    tensor_data : TensorWriteData, optional
        Of a tensor.

    """

    index: MetadataIndex
    type: WriteItemType
    bytes_io_data: BytesIOWriteData | None = None
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self):
        """Return how many bytes the whole tensor has; None of an object."""
        if self.tensor_data is None:
            return None
        return math.prod(self.tensor_data.size) * self.tensor_data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """One thing to read.

    Parameters
    ----------
    type : LoadItemType
        Its kind.
    dest_index : MetadataIndex
        Where it goes.
    dest_offsets : torch.Size
        The place in there.
    storage_index : MetadataIndex
        Where it comes from.
    storage_offsets : torch.Size
        The place in there.
    lengths : torch.Size
        How much.

    """

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: torch.Size
    storage_index: MetadataIndex
    storage_offsets: torch.Size
    lengths: torch.Size


@dataclass(frozen=True)
class SavePlan:
    """What a process writes.

    Parameters
    ----------
    items : List[WriteItem]
        The things.
    storage_data : Any, optional
        What the storage adds.
    planner_data : Any, optional
        What the planner adds.
    usable : bool, optional, default=True
        False says that it is the plan of last time.

    """

    items: list
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    """What a process reads.

    Parameters
    ----------
    items : List[ReadItem]
        The things.
    storage_data : Any, optional
        What the storage adds.
    planner_data : Any, optional
        What the planner adds.

    """

    items: list
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(abc.ABC):
    """Who decides what each process writes; the methods are called in the order in which they stand here."""

    # The plans of last time by planners' names, for those that keep them.
    _cached_save_plan = {}
    _cached_final_save_plan = {}
    _cached_all_plans = {}
    _cached_global_plan = {}
    _cached_metadata = {}

    @abc.abstractmethod
    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        """Begin: on all processes."""

    @abc.abstractmethod
    def create_local_plan(self):
        """Return this process's plan: on all processes."""

    @abc.abstractmethod
    def create_global_plan(self, all_plans):
        """Return (the plans as they are to be, the list of contents): on the coordinator, of all processes' plans."""

    @abc.abstractmethod
    def finish_plan(self, new_plan):
        """Return this process's plan, of what the coordinator has made of it: on all processes."""

    @abc.abstractmethod
    def resolve_data(self, write_item):
        """Return what is written for an item: a tensor, or a file in memory."""


class LoadPlanner:
    """Who decides what each process reads; the methods are called in the order in which they stand here."""

    @abc.abstractmethod
    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Begin: on all processes."""

    @abc.abstractmethod
    def create_local_plan(self):
        """Return this process's plan: on all processes."""

    @abc.abstractmethod
    def create_global_plan(self, global_plan):
        """Return the plans as they are to be: on the coordinator, of all processes' plans."""

    @abc.abstractmethod
    def finish_plan(self, central_plan):
        """Return this process's plan, of what the coordinator has made of it: on all processes."""

    @abc.abstractmethod
    def load_bytes(self, read_item, value):
        """Take an object's file."""

    def resolve_bytes(self, read_item):
        """Return a file in memory to be filled."""
        raise NotImplementedError("LoadPlanner.resolve_bytes is not implemented")

    @abc.abstractmethod
    def resolve_tensor(self, read_item):
        """Return the tensor that an item is read into."""

    @abc.abstractmethod
    def commit_tensor(self, read_item, tensor):
        """Hear that a tensor has been read."""
