"""Saving states, by all processes together: at once, or by a thread while the program goes on."""
import inspect
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum

from dragon.core import warnings
from dragon.vm.torch import distributed as dist
from dragon.vm.torch.distributed.checkpoint._storage_utils import _storage_setup
from dragon.vm.torch.distributed.checkpoint.api import CheckpointException
from dragon.vm.torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from dragon.vm.torch.distributed.checkpoint.staging import AsyncStager, DefaultStager, StagingOptions
from dragon.vm.torch.distributed.checkpoint.stateful import Stateful
from dragon.vm.torch.distributed.checkpoint.utils import _api_bc_check, _DistWrapper


class AsyncCheckpointerType(Enum):
    """Who saves while the program goes on."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass
class AsyncSaveResponse:
    """What to wait for.

    Parameters
    ----------
    staging_completion : concurrent.futures.Future
        Done when the state has been copied.
    upload_completion : concurrent.futures.Future
        Done when the checkpoint counts.

    """

    staging_completion: Future
    upload_completion: Future


def save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """Save a state: the old name of `save`."""
    warnings.warn("`save_state_dict` is deprecated and will be removed in future versions.Please use `save` instead.",
                  FutureWarning)
    storage_writer.reset()
    return _save_state_dict(state_dict, storage_writer, process_group, coordinator_rank, no_dist, planner)


@_api_bc_check
def save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False,
         use_collectives=True):
    """Save a state: each process writes its part, and the checkpoint before stays readable until all have.

    Parameters
    ----------
    state_dict : Dict[str, Any]
        The state; what has `state_dict()` is asked for its own.
    checkpoint_id : Union[str, os.PathLike], optional
        The folder.
    storage_writer : StorageWriter, optional
        What writes; into the folder by default.
    planner : SavePlanner, optional
        Who decides what each process writes.
    process_group : ProcessGroup, optional
        The processes; all by default.
    no_dist : bool, optional, default=False
        Whether this process saves alone.
    use_collectives : bool, optional, default=True
        Whether there is one list of contents; one for each process otherwise.

    Returns
    -------
    Metadata
        The list of contents.

    """
    no_dist = no_dist or not dist.is_initialized()
    if no_dist:
        warnings.warn("torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to save in "
                      "a single process.")
    writer = _storage_setup(storage_writer, checkpoint_id, reader=False)
    return _save_state_dict(_stateful_to_state_dict(state_dict), writer, process_group, no_dist=no_dist,
                            planner=planner, use_collectives=use_collectives)


_groups = {}  # groups for saving in the background, by the group whose processes they have


def _background_group(process_group, no_dist):
    """Return a group of the same processes, whose calls do not come between those of the program."""
    if no_dist or not dist.is_initialized():
        return None
    group = process_group or dist.distributed_c10d._get_default_group()
    for known in [known for known in _groups if known not in dist.distributed_c10d._pg_map]:
        del _groups[known]  # the program has left it
    if group not in _groups:
        _groups[group] = dist.new_group(dist.get_process_group_ranks(group), use_local_synchronization=True)
    return _groups[group]


def async_save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None,
               async_checkpointer_type=AsyncCheckpointerType.THREAD, async_stager=None, no_dist=False,
               use_collectives=True):
    """Copy a state, and save the copy by a thread; the arguments are those of `save`, and two more.

    Parameters
    ----------
    state_dict : Dict[str, Any]
        The state.
    checkpoint_id, storage_writer, planner, process_group, no_dist, use_collectives
        As of `save`.
    async_checkpointer_type : AsyncCheckpointerType, optional, default=AsyncCheckpointerType.THREAD
        Who saves: a thread.
    async_stager : AsyncStager, optional
        What copies the state; the writer by default, if it can.

    Returns
    -------
    Union[concurrent.futures.Future, AsyncSaveResponse]
        The future of the list of contents; with a stager whose copy comes later, both futures.

    """
    if async_checkpointer_type != AsyncCheckpointerType.THREAD:
        raise NotImplementedError(f"async_save: got {async_checkpointer_type}, expected AsyncCheckpointerType.THREAD: "
                                  "a thread saves, with a group of its own")
    owned = None
    if async_stager is None:
        if isinstance(storage_writer, AsyncStager):
            async_stager = storage_writer
        else:
            async_stager = owned = DefaultStager(StagingOptions(False, False, False, False))
    group = _background_group(process_group, no_dist)
    staged = async_stager.stage(_stateful_to_state_dict(state_dict))

    def work():
        return save(staged.result() if isinstance(staged, Future) else staged, checkpoint_id=checkpoint_id,
                    storage_writer=storage_writer, planner=planner, process_group=group, no_dist=no_dist,
                    use_collectives=use_collectives)
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="AsyncCheckpointExecutor")
    saved = thread.submit(work)
    saved.add_done_callback(lambda _: thread.shutdown(wait=False))
    if owned is not None:
        saved.add_done_callback(lambda _: owned.close())
    if not isinstance(staged, Future):
        if async_stager.should_synchronize_after_execute:
            async_stager.synchronize_staging()
        return saved
    copied = Future()

    def tell(done):
        if done.exception() is None:
            copied.set_result(None)
        else:
            copied.set_exception(done.exception())
    staged.add_done_callback(tell)
    return AsyncSaveResponse(copied, saved)


def _stateful_to_state_dict(state_dict):
    """Return a state in which what has a state of its own is that state."""
    return {key: value.state_dict() if isinstance(value, Stateful) else value for key, value in state_dict.items()}


def takes(function, name):
    """Return whether a function has an argument of a name: planners and storages of old lack some."""
    return name in inspect.signature(function).parameters


def _save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None,
                     use_collectives=True):
    """Save a state; see `save`."""
    group = _DistWrapper(process_group, not no_dist, coordinator_rank)
    planner = DefaultSavePlanner() if planner is None else planner
    contents = None

    def plan_locally():
        if takes(planner.set_up_planner, "storage_meta"):
            planner.set_up_planner(state_dict=state_dict, storage_meta=storage_writer.storage_meta(),
                                   is_coordinator=group.is_coordinator)
        else:
            warnings.warn("The function definition for SavePlanner.set_up_planner has been updated to include the "
                          "storage_meta argument. Please update your implementation to include this parameter.")
            planner.set_up_planner(state_dict, group.is_coordinator)
        more = ({"rank": group.rank, "use_collectives": use_collectives}
                if takes(storage_writer.set_up_storage_writer, "kwargs") else {})
        storage_writer.set_up_storage_writer(group.is_coordinator, **more)
        return storage_writer.prepare_local_plan(planner.create_local_plan())

    def plan_together(plans):
        nonlocal contents
        plans, contents = planner.create_global_plan(plans)
        return storage_writer.prepare_global_plan(plans)

    def write(plan):
        return storage_writer.write_data(planner.finish_plan(plan), planner).wait()

    def finish(results):
        storage_writer.finish(metadata=contents, results=results)
        return contents
    # What all have heard of came to nothing, and its files only fill the disk. Who hears of something else, that
    # another process has died say, does not know whether the checkpoint counts, and leaves its files alone.
    known = CheckpointException if use_collectives else Exception
    try:
        if use_collectives:
            plan = group.reduce_scatter("plan", plan_locally, plan_together)
            return group.all_reduce("write", lambda: write(plan), finish)
        found = finish([write(plan_together([plan_locally()])[0])])
    except known:
        if hasattr(storage_writer, "abandon"):
            storage_writer.abandon()
        raise
    group.barrier()
    return found
