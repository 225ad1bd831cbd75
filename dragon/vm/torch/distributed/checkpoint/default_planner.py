"""Planners for states: each tensor, or part of one, is written once, and read by whoever needs it."""
import dataclasses
import io
import math

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint import planner_caching
from dragon.vm.torch.distributed.checkpoint._dedup_save_plans import dedup_save_plans
from dragon.vm.torch.distributed.checkpoint._nested_dict import flatten_state_dict
from dragon.vm.torch.distributed.checkpoint._sharded import is_sharded
from dragon.vm.torch.distributed.checkpoint._traverse import set_element
from dragon.vm.torch.distributed.checkpoint.metadata import (BytesStorageMetadata, Metadata, TensorStorageMetadata)
from dragon.vm.torch.distributed.checkpoint.planner import (LoadPlan, LoadPlanner, SavePlan, SavePlanner,
                                                            WriteItemType)
from dragon.vm.torch.distributed.checkpoint.planner_helpers import (_create_read_items, _create_write_items,
                                                                    _init_state_dict)
from dragon.vm.torch.distributed.checkpoint.resharding import overlaps
from dragon.vm.torch.distributed.checkpoint.utils import find_state_dict_object, narrow

_LONGEST = 500  # of what is told of mistakes in plans


class DefaultSavePlanner(SavePlanner):
    """Plans what each process writes of a state.

    Parameters
    ----------
    flatten_state_dict : bool, optional, default=True
        Whether dictionaries within the state are taken apart.
    flatten_sharded_tensors : bool, optional, default=True
        Accepted: there are no sharded tensors within sharded tensors.
    dedup_replicated_tensors : bool, optional
        Of old; it has no effect.
    dedup_save_to_lowest_rank : bool, optional, default=False
        Whether what all have is written by the first, rather than by who has least to write.
    enable_plan_caching : bool, optional, default=False
        Whether plans are kept, and sent again only if they have changed.

    """

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True, dedup_replicated_tensors=None,
                 dedup_save_to_lowest_rank=False, enable_plan_caching=False):
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.mappings = {}
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        if dedup_replicated_tensors is not None:
            warnings.warn("DefaultSavePlanner's `dedup_replicated_tensors` argument is being deprecated, and no longer "
                          "has any effect. Please remove this argument from your call.")
        self._cached_plans_key = type(self).__name__
        self._enable_plan_caching = enable_plan_caching
        self._pending_local_plan = None

    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        """Begin with a state."""
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.is_coordinator = state_dict, is_coordinator

    def create_local_plan(self):
        """Return a plan of all that this process has."""
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        if self.flatten_state_dict:
            plan = dataclasses.replace(plan, planner_data=self.mappings)
        self.plan = plan
        return planner_caching.send_if_new(self, plan) if self._enable_plan_caching else plan

    def create_global_plan(self, all_plans):
        """Return (plans in which each thing is written once, the list of contents)."""
        if self._enable_plan_caching:
            sent, self.global_plan, self.metadata = planner_caching.join_plans(self, all_plans)
            return sent, self.metadata
        self.global_plan, self.metadata = self._create_global_plan(all_plans)
        return self.global_plan, self.metadata

    def _dedup_save_plans(self, all_plans):
        return dedup_save_plans(all_plans, self.dedup_save_to_lowest_rank)

    def _create_global_plan(self, all_plans):
        plans, metadata = create_default_global_save_plan(self._dedup_save_plans(all_plans))
        if self.flatten_state_dict:
            paths = {}
            for plan in reversed(plans):
                paths.update(plan.planner_data or {})
            metadata = dataclasses.replace(metadata, planner_data=paths)
        mistakes = "; ".join(_validate_global_plan(plans, metadata))
        if mistakes:
            cut = f"{mistakes[:_LONGEST]}... (truncated)" if len(mistakes) > _LONGEST else mistakes
            raise ValueError(f"Failed to validate global plan: {cut}")
        return plans, metadata

    def finish_plan(self, new_plan):
        """Return the plan that came back."""
        self.plan = planner_caching.finish(self, new_plan) if self._enable_plan_caching else new_plan
        return self.plan

    def resolve_data(self, write_item):
        """Return the tensor of an item, or its object's file in memory."""
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index):
        """Return what a name stands for in the state."""
        return find_state_dict_object(self.state_dict, index)

    def transform_object(self, write_item, object):
        """Return what is written for a value: an object's file in memory, a tensor as it is."""
        if write_item.type == WriteItemType.BYTE_IO:
            file = io.BytesIO()
            torch.save(object, file)
            return file
        return object


class DefaultLoadPlanner(LoadPlanner):
    """Plans what each process reads into a state.

    Parameters
    ----------
    flatten_state_dict : bool, optional, default=True
        Whether dictionaries within the state are taken apart.
    flatten_sharded_tensors : bool, optional, default=True
        Accepted: there are no sharded tensors within sharded tensors.
    allow_partial_load : bool, optional, default=False
        Whether names that the checkpoint lacks are left alone; they raise otherwise.

    """

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True, allow_partial_load=False):
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.original_state_dict, self.mappings = {}, {}
        self.allow_partial_load = allow_partial_load

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Begin with a state to be filled."""
        _init_state_dict(state_dict)
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator

    def create_local_plan(self):
        """Return a plan of all that this process wants."""
        if self.metadata is None:
            raise AssertionError("DefaultLoadPlanner: got no metadata, expected it from set_up_planner")
        return create_default_local_load_plan(self.state_dict, self.metadata, not self.allow_partial_load)

    def create_global_plan(self, global_plan):
        """Return the plans as they came."""
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, new_plan):
        """Return the plan as it came."""
        return new_plan

    def load_bytes(self, read_item, value):
        """Put an object into the state."""
        name, found = read_item.dest_index.fqn, torch.load(value, weights_only=False)
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[name], found)
        else:
            self.state_dict[name] = found

    def resolve_tensor(self, read_item):
        """Return the part of a tensor that is read into."""
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def commit_tensor(self, read_item, tensor):
        """Nothing is left to be done: the part lies in the state's own memory."""

    def lookup_tensor(self, index):
        """Return the tensor that a name stands for in the state."""
        return find_state_dict_object(self.state_dict, index)

    def transform_tensor(self, read_item, tensor):
        """Return an item's part of a tensor."""
        return narrow(tensor, read_item.dest_offsets, read_item.lengths)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Plans to read a checkpoint into an empty state, by its own list of contents.

    Parameters
    ----------
    keys : Set[str], optional
        What is read: names, or beginnings of their paths; all unless given.
    args, kwargs
        As of `DefaultLoadPlanner`.

    """

    def __init__(self, keys=None, *args, **kwargs):
        self.keys = keys
        super().__init__(*args, **kwargs)

    def _should_include_key(self, key, metadata):
        if self.keys is None or key in self.keys:
            return True
        path = (metadata.planner_data or {}).get(key, ())
        return any(".".join(map(str, path[:end])) in self.keys for end in range(1, len(path) + 1))

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Begin with an empty state, which gets what the list of contents has."""
        if state_dict:
            raise AssertionError(f"_EmptyStateDictLoadPlanner: got a state with {sorted(state_dict)}, expected an "
                                 "empty one")
        if metadata is None:
            raise AssertionError("_EmptyStateDictLoadPlanner: got no metadata, expected a checkpoint's")
        for key, value in metadata.state_dict_metadata.items():
            if not self._should_include_key(key, metadata):
                continue
            if isinstance(value, TensorStorageMetadata):
                value = torch.empty(value.size, dtype=value.properties.dtype)
            set_element(state_dict, (metadata.planner_data or {}).get(key, (key,)), value)
        super().set_up_planner(state_dict, metadata, is_coordinator)


def _is_elsewhere(value):
    """Return whether a sharded tensor lies on a mesh that this process is not part of."""
    return is_sharded(value) and value.device_mesh.get_coordinate() is None


def create_default_local_load_plan(state_dict, metadata, strict=True):
    """Return a plan that reads a state.

    Parameters
    ----------
    state_dict : Dict[str, Any]
        The state.
    metadata : Metadata
        The checkpoint's list of contents.
    strict : bool, optional, default=True
        Whether names that are not there raise.

    Returns
    -------
    LoadPlan
        The plan.

    """
    items = []
    for name, value in state_dict.items():
        saved = metadata.state_dict_metadata.get(name)
        if saved is None:
            if strict:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
            continue
        if isinstance(saved, TensorStorageMetadata) and isinstance(value, torch.Tensor) and saved.size != value.size():
            raise ValueError(f"Size mismatch between saved {saved.size} and current: {value.size()} for {name}")
        if not _is_elsewhere(value):
            items += _create_read_items(name, saved, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans):
    """Return the plans as they came: each process reads for itself."""
    return all_plans


def create_default_local_save_plan(state_dict, is_coordinator):
    """Return a plan that writes all that a process has of a state; the coordinator leaves out what others write."""
    items = []
    for name, value in state_dict.items():
        if not _is_elsewhere(value):
            items += _create_write_items(name, value)
    return SavePlan(items)


def create_default_global_save_plan(all_plans, rewrite_index_hints=True):
    """Return (plans, the list of contents that they make).

    Parameters
    ----------
    all_plans : List[SavePlan]
        The plan of each process.
    rewrite_index_hints : bool, optional, default=True
        Whether parts are numbered.

    Returns
    -------
    Tuple[List[SavePlan], Metadata]
        Both.

    """
    contents, plans = {}, []
    for plan in all_plans:
        items = []
        for item in plan.items:
            name, data = item.index.fqn, item.tensor_data
            if item.type != WriteItemType.SHARD and name in contents:
                raise AssertionError(f"create_default_global_save_plan: got {name} twice, expected each once")
            if item.type == WriteItemType.BYTE_IO:
                contents[name] = BytesStorageMetadata()
            else:
                known = contents.setdefault(name, TensorStorageMetadata(data.properties, data.size, []))
                if rewrite_index_hints:
                    item = dataclasses.replace(item, index=dataclasses.replace(item.index, index=len(known.chunks)))
                known.chunks.append(data.chunk)
            items.append(item)
        plans.append(dataclasses.replace(plan, items=items))
    return plans, Metadata(contents)


def _validate_global_plan(global_plan, metadata):
    """Return what is wrong with plans: parts outside of a tensor, parts that overlap, parts that are missing."""
    mistakes = []
    for name, known in metadata.state_dict_metadata.items():
        if isinstance(known, BytesStorageMetadata) or not known.size:
            continue
        volume = 0
        for number, chunk in enumerate(known.chunks):
            if any(begin < 0 or size < 0 or begin + size > whole
                   for begin, size, whole in zip(chunk.offsets, chunk.sizes, known.size)):
                mistakes.append(f"key:{name} has out of bounds chunk: tensor-size:{known.size} chunk: {chunk}")
            mistakes += [f"key:{name} has overlapping chunks: {chunk} {other}" for other in known.chunks[:number]
                         if overlaps(chunk, other)]
            volume += math.prod(chunk.sizes)
        if len(global_plan) > 1 and volume != math.prod(known.size):
            mistakes.append(f"key:{name} invalid fill tensor-volume: {math.prod(known.size)} chunks-volume: {volume}")
    return mistakes
