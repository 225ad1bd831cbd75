"""Steps that all processes take together, of which each hears what went wrong with any; and parts of tensors."""
import functools
import inspect
import io
import itertools
import os
import pickle

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch import distributed as dist
from dragon.vm.torch.distributed.checkpoint._sharded import is_sharded, local_of
from dragon.vm.torch.distributed.checkpoint.api import CheckpointException, _is_wrapped_exception, _wrap_exception


def _failure(error):
    """Return an error as others can be told: what has no pickle is told as text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__)
    return _wrap_exception(error)


def _failures(results):
    return {rank: result for rank, result in enumerate(results) if _is_wrapped_exception(result)}


def _assert_same_keys(state_dict, process_group=None):
    """Raise unless all processes have the same names."""
    if dist.get_world_size(process_group) == 1:
        return
    names = [None] * dist.get_world_size(process_group)
    dist.all_gather_object(names, list(state_dict), group=process_group)
    missing = set(itertools.chain.from_iterable(names)) - set(state_dict)
    if missing:
        raise AssertionError(f"Key(s) present in other ranks but not this one, difference: {missing}")


class _DistWrapper:
    """The processes of a group, or this one alone.

    Parameters
    ----------
    group : ProcessGroup, optional
        The group; the default one unless given.
    use_dist : bool
        Whether there are others.
    coordinator_rank : int
        Who decides, by its rank in the group.

    """

    def __init__(self, group, use_dist, coordinator_rank):
        self.group, self.use_dist, self.coordinator_rank = group, use_dist, coordinator_rank
        self.rank = dist.get_rank(group) if use_dist else 0
        self.is_coordinator = not use_dist or self.rank == coordinator_rank
        self.global_coordinator_rank = dist.get_global_rank(group, coordinator_rank) if use_dist else 0

    def get_rank(self):
        """Return this process's rank."""
        return self.rank

    def get_world_size(self):
        """Return how many processes there are."""
        return dist.get_world_size(self.group) if self.use_dist else 1

    def broadcast_object(self, object):
        """Return the coordinator's object."""
        made = [object]
        if self.use_dist:
            dist.broadcast_object_list(made, self.global_coordinator_rank, self.group)
        return made[0]

    def gather_object(self, object):
        """Return the objects of all on the coordinator, None elsewhere."""
        if not self.use_dist:
            return [object]
        made = [None] * self.get_world_size() if self.is_coordinator else None
        dist.gather_object(object, made, self.global_coordinator_rank, self.group)
        return made

    def all_gather_object(self, object):
        """Return the objects of all."""
        if not self.use_dist:
            return [object]
        made = [None] * self.get_world_size()
        dist.all_gather_object(made, object, self.group)
        return made

    def scatter_object(self, object_list):
        """Return this process's object of the coordinator's list."""
        if not self.use_dist:
            return object_list[0]
        made = [None]
        dist.scatter_object_list(made, object_list if self.is_coordinator else None, self.global_coordinator_rank,
                                 self.group)
        return made[0]

    def _join(self, step, map_fun, reduce_fun):
        """Return what the coordinator makes of all results, or the failures; None elsewhere."""
        gathered = self.gather_object(_attempt(map_fun))
        if not self.is_coordinator:
            return None
        failures = _failures(gathered)
        if not failures:
            result = _attempt(lambda: reduce_fun(gathered))
            if not _is_wrapped_exception(result):
                return result
            failures = {self.rank: result}
        return CheckpointException(step, failures)

    def reduce_scatter(self, step, map_fun, reduce_fun):
        """Call a function on all, have the coordinator make a list of the results, and return this process's entry."""
        made = self._join(step, map_fun, reduce_fun)
        if isinstance(made, CheckpointException):
            made = [made] * self.get_world_size()
        return _or_raise(self.scatter_object(made))

    def all_reduce(self, step, map_fun, reduce_fun):
        """Call a function on all, and return what the coordinator makes of the results."""
        return _or_raise(self.broadcast_object(self._join(step, map_fun, reduce_fun)))

    def all_gather(self, step, map_fun):
        """Call a function on all, and return all results."""
        results = self.all_gather_object(_attempt(map_fun))
        failures = _failures(results)
        if failures:
            raise CheckpointException(step, failures)
        return results

    def broadcast(self, step, map_fun):
        """Call a function on the coordinator, and return its result."""
        result = _attempt(map_fun) if self.is_coordinator else None
        if _is_wrapped_exception(result):
            result = CheckpointException(step, {self.rank: result})
        return _or_raise(self.broadcast_object(result))

    def barrier(self):
        """Wait for all."""
        if self.use_dist:
            dist.barrier(self.group)


def _attempt(call):
    """Return what a function returns, or its error."""
    try:
        return call()
    except Exception as error:
        return _failure(error)


def _or_raise(result):
    if isinstance(result, CheckpointException):
        raise result
    return result


def narrow(tensor, offsets, sizes):
    """Return a part of a tensor."""
    for axis, (begin, size) in enumerate(zip(offsets, sizes)):
        if begin or size != tensor.shape[axis]:
            tensor = tensor.narrow(axis, begin, size)
    return tensor


def find_tensor_shard(tensor, index):
    """Return the part of a tensor that a name stands for; sharded tensors tell it themselves."""
    if hasattr(tensor, "__get_tensor_shard__"):
        return tensor.__get_tensor_shard__(index)
    if is_sharded(tensor):
        return local_of(tensor)
    if index.offset is not None and any(index.offset):
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return tensor


def find_state_dict_object(state_dict, index):
    """Return what a name stands for in a state."""
    if index.fqn not in state_dict:
        raise ValueError(f"Could not find FQN: '{index.fqn}'")
    found = state_dict[index.fqn]
    if isinstance(found, torch.Tensor):
        return find_tensor_shard(found, index)
    if index.offset is not None:
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return found


class _ReaderView(io.RawIOBase):
    """A part of a file as a file.

    Parameters
    ----------
    file : BinaryIO
        The file.
    offset : int
        Where the part begins.
    length : int
        How many bytes it has.

    """

    def __init__(self, file, offset, length):
        self._file, self._offset, self._length, self._at = file, offset, length, 0

    def seek(self, offset, whence=os.SEEK_SET):
        """Go to a place; return it."""
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence])
        return self._at

    def tell(self):
        """Return the place."""
        return self._at

    def readable(self):
        """Return True."""
        return True

    def seekable(self):
        """Return True."""
        return True

    def readinto(self, buffer):
        """Fill a buffer as far as there are bytes; return how many there were."""
        view = memoryview(buffer).cast("B")
        view = view[:max(0, min(len(view), self._length - self._at))]
        self._file.seek(self._offset + self._at)
        count = self._file.readinto(view)
        self._at += count
        return count


def _api_bc_check(function):
    """Let a function take its storage as second argument, as it once did."""
    storage = next(name for name in inspect.signature(function).parameters if name.startswith("storage_"))

    @functools.wraps(function)
    def call(*args, **kwargs):
        if len(args) == 2:
            warnings.warn(f"The argument order of {function.__name__} has been changed. Please check the document to "
                          "avoid future breakages.")
            *args, kwargs[storage] = args
        return function(*args, **kwargs)
    return call
