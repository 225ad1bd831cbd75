"""Checkpoints in folders from files of `torch.save`, and back."""
import argparse
import os

from dragon.vm import torch
from dragon.vm.torch import distributed as dist
from dragon.vm.torch.distributed.checkpoint._nested_dict import flatten_state_dict
from dragon.vm.torch.distributed.checkpoint._filesystem_reader import FileSystemReader, _fill
from dragon.vm.torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from dragon.vm.torch.distributed.checkpoint.filesystem import FileSystemWriter
from dragon.vm.torch.distributed.checkpoint.metadata import Metadata, TensorProperties, TensorStorageMetadata
from dragon.vm.torch.distributed.checkpoint.planner import LoadItemType
from dragon.vm.torch.distributed.checkpoint.planner_helpers import _create_chunk_list
from dragon.vm.torch.distributed.checkpoint.state_dict_loader import _load_state_dict
from dragon.vm.torch.distributed.checkpoint.state_dict_saver import _save_state_dict
from dragon.vm.torch.distributed.checkpoint.storage import StorageReader
from dragon.vm.torch.futures import Future


def _refuse_object(who, name):
    raise RuntimeError(f"Non-tensor value identified at {name}. At this time {type(who).__name__} only supports "
                       "loading Tensors.")


class BroadcastingTorchSaveReader(StorageReader):
    """Reads a file of `torch.save` on one process, and gives the tensors to all; goes with `DynamicMetaLoadPlanner`.

    Parameters
    ----------
    checkpoint_id : Union[str, os.PathLike], optional
        The file.
    coordinator_rank : int, optional, default=0
        Who reads.

    """

    def __init__(self, checkpoint_id=None, coordinator_rank=0):
        self.checkpoint_id, self.coordinator_rank, self.is_coordinator = checkpoint_id, coordinator_rank, False

    def reset(self, checkpoint_id=None):
        """Begin another file."""
        self.checkpoint_id = checkpoint_id

    def read_metadata(self):
        """Return an empty list: the planner makes one of the state."""
        return Metadata({})

    def set_up_storage_reader(self, metadata, is_coordinator):
        """Begin."""
        self.is_coordinator = is_coordinator
        if is_coordinator and dist.get_rank() != self.coordinator_rank:
            raise AssertionError(f"Coordinator rank mismatch: expected {self.coordinator_rank}, got {dist.get_rank()}")
        if self.checkpoint_id is None:
            raise AssertionError("checkpoint_id must be set before setting up storage reader")

    def prepare_local_plan(self, plan):
        """Return the plan as it came."""
        return plan

    def prepare_global_plan(self, plans):
        """Return the plans as they came."""
        return plans

    def read_data(self, plan, planner):
        """Read the file on one process, and give each tensor to all."""
        saved = {}
        if self.is_coordinator:
            saved = torch.load(self.checkpoint_id, map_location="cpu", weights_only=False)
            if planner.flatten_state_dict:
                saved, _ = flatten_state_dict(saved)
        for item in plan.items:
            name = item.storage_index.fqn
            if item.type == LoadItemType.BYTE_IO:
                _refuse_object(self, name)
            tensor = saved[name] if self.is_coordinator else torch.empty_like(planner.state_dict[name])
            dist.broadcast(tensor, src=self.coordinator_rank)
            _fill(planner, item, tensor)
        done = Future()
        done.set_result(None)
        return done

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether there is such a file."""
        return os.path.isfile(checkpoint_id)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Plans to read a state from what has no list of contents: the list is made of the state."""

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Begin with a state to be filled, of tensors alone."""
        super().set_up_planner(state_dict, metadata, is_coordinator)
        contents = {}
        for name, value in self.state_dict.items():
            if not isinstance(value, torch.Tensor):
                _refuse_object(self, name)
            contents[name] = TensorStorageMetadata(TensorProperties(dtype=value.dtype), value.size(),
                                                   _create_chunk_list(value))
        self.metadata = Metadata(contents)


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    """Write what is in a checkpoint's folder to a file of `torch.save`.

    Parameters
    ----------
    dcp_checkpoint_dir : Union[str, os.PathLike]
        The folder.
    torch_save_path : Union[str, os.PathLike]
        The file.

    """
    state = {}
    _load_state_dict(state, FileSystemReader(dcp_checkpoint_dir), planner=_EmptyStateDictLoadPlanner(), no_dist=True)
    torch.save(state, torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    """Write what is in a file of `torch.save` to a checkpoint's folder.

    Parameters
    ----------
    torch_save_path : Union[str, os.PathLike]
        The file.
    dcp_checkpoint_dir : Union[str, os.PathLike]
        The folder.

    """
    _save_state_dict(torch.load(torch_save_path, weights_only=False), FileSystemWriter(dcp_checkpoint_dir),
                     no_dist=True)


def _main():
    parser = argparse.ArgumentParser(description="Checkpoints in folders from files of torch.save, and back.")
    ways = {"torch_to_dcp": torch_save_to_dcp, "dcp_to_torch": dcp_to_torch_save}
    parser.add_argument("mode", choices=ways, help="which way")
    parser.add_argument("src", help="what is there")
    parser.add_argument("dst", help="what is made")
    options = parser.parse_args()
    exists = os.path.isfile if options.mode == "torch_to_dcp" else os.path.isdir
    print(f"Converting checkpoint from {options.src} to {options.dst} using method: '{options.mode}'")
    if exists(options.src):
        ways[options.mode](options.src, options.dst)
    else:
        print(f"No checkpoint found at {options.src}. Skipping conversion.")


if __name__ == "__main__":
    _main()
