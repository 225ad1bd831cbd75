"""Where checkpoints lie: what writes them there, and what reads them."""
import abc
from dataclasses import dataclass
from typing import Any

from dragon.vm.torch.distributed.checkpoint.metadata import MetadataIndex


@dataclass(frozen=True)
class WriteResult:
    """What became of an item that was written.

    Parameters
    ----------
    index : MetadataIndex
        Its name.
    size_in_bytes : int
        What it takes.
    storage_data : Any
        Where the storage finds it again.

    """

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(abc.ABC):
    """What writes checkpoints; the methods are called in the order in which they stand here."""

    @abc.abstractmethod
    def reset(self, checkpoint_id=None):
        """Begin another checkpoint."""

    @abc.abstractmethod
    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        """Begin: on all processes."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan):
        """Return a process's plan with what the storage adds: on all processes."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans):
        """Return all processes' plans with what the storage adds: on the coordinator."""

    @abc.abstractmethod
    def write_data(self, plan, planner):
        """Write a process's items; return a future of their results."""

    @abc.abstractmethod
    def finish(self, metadata, results):
        """Write the list of contents, after which the checkpoint counts: on the coordinator."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether this storage can have a checkpoint of that name."""

    def storage_meta(self):
        """Return which checkpoint this is; None where that is not told."""
        return None


class StorageReader(abc.ABC):
    """What reads checkpoints; the methods are called in the order in which they stand here."""

    @abc.abstractmethod
    def reset(self, checkpoint_id=None):
        """Begin another checkpoint."""

    @abc.abstractmethod
    def read_metadata(self, *args, **kwargs):
        """Return the list of contents."""

    @abc.abstractmethod
    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        """Begin: on all processes."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan):
        """Return a process's plan with what the storage adds: on all processes."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans):
        """Return all processes' plans with what the storage adds: on the coordinator."""

    @abc.abstractmethod
    def read_data(self, plan, planner):
        """Read a process's items; return a future that is done when all are read."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether this storage can have a checkpoint of that name."""
