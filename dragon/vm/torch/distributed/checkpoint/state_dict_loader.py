"""Loading states, by all processes together: each reads what it needs, however many had saved."""
import logging

from dragon.core import warnings
from dragon.vm.torch import distributed as dist
from dragon.vm.torch.distributed.checkpoint._storage_utils import _storage_setup
from dragon.vm.torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from dragon.vm.torch.distributed.checkpoint.state_dict_saver import takes
from dragon.vm.torch.distributed.checkpoint.stateful import Stateful
from dragon.vm.torch.distributed.checkpoint.utils import _api_bc_check, _DistWrapper

logger = logging.getLogger("torch.distributed.checkpoint")


def load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """Load a state: the old name of `load`."""
    warnings.warn("`load_state_dict` is deprecated and will be removed in future versions. Please use `load` instead.",
                  FutureWarning)
    storage_reader.reset()
    _load_state_dict(state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner)


@_api_bc_check
def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False):
    """Load a checkpoint into a state, in place.

    Parameters
    ----------
    state_dict : Dict[str, Any]
        The state: tensors are filled where they are, other values replaced, and what has `load_state_dict()` gets its
        own.
    checkpoint_id : Union[str, os.PathLike], optional
        The folder.
    storage_reader : StorageReader, optional
        What reads; from the folder by default.
    planner : LoadPlanner, optional
        Who decides what each process reads.
    process_group : ProcessGroup, optional
        The processes; all by default.
    no_dist : bool, optional, default=False
        Whether this process loads alone.

    """
    no_dist = no_dist or not dist.is_initialized()
    if no_dist:
        warnings.warn("torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to load in "
                      "a single process.")
    reader = _storage_setup(storage_reader, checkpoint_id, reader=True)
    # The order of names must be that of all processes, whatever each one's own is.
    states = {}
    for key in sorted(state_dict):
        value = state_dict[key]
        states[key] = value.state_dict() if isinstance(value, Stateful) else value
    _load_state_dict(states, reader, process_group, no_dist=no_dist, planner=planner)
    for key, state in states.items():
        if isinstance(state_dict[key], Stateful):
            state_dict[key].load_state_dict(state)
        else:
            state_dict[key] = state


def _read_metadata(reader, rank):
    """Return (a list of contents, whether it is that of all processes): else this process's own."""
    try:
        return reader.read_metadata(), True
    except Exception as error:
        first = error
    if takes(reader.read_metadata, "kwargs"):
        try:
            return reader.read_metadata(rank=rank), False
        except Exception as error:
            first = f"{first}; rank local metadata read failed: {error}"
    raise AssertionError(f"metadata is None; global metadata read failed: {first}")


def _load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """Load a state; see `load`."""
    group = _DistWrapper(process_group, not no_dist, coordinator_rank)
    planner = DefaultLoadPlanner() if planner is None else planner

    def plan_locally():
        metadata, is_common = _read_metadata(storage_reader, group.rank)
        planner.set_up_planner(state_dict, metadata, group.is_coordinator)
        more = ({"rank": group.rank, "use_collectives": is_common}
                if takes(storage_reader.set_up_storage_reader, "kwargs") else {})
        storage_reader.set_up_storage_reader(metadata, group.is_coordinator, **more)
        return storage_reader.prepare_local_plan(planner.create_local_plan())

    def plan_together(plans):
        return storage_reader.prepare_global_plan(planner.create_global_plan(plans))
    plan = group.reduce_scatter("plan", plan_locally, plan_together)
    group.all_gather("read", lambda: storage_reader.read_data(planner.finish_plan(plan), planner).wait())


def _load_state_dict_from_keys(keys=None, *, checkpoint_id=None, storage_reader=None, process_group=None):
    """Return the state in a checkpoint, or what of it is named."""
    no_dist = not dist.is_initialized()
    if no_dist:
        warnings.warn("torch.distributed is unavailable or uninitialized, assuming the intent is to load in a single "
                      "process.")
    state = {}
    _load_state_dict(state, _storage_setup(storage_reader, checkpoint_id, reader=True), process_group, no_dist=no_dist,
                     planner=_EmptyStateDictLoadPlanner({keys} if isinstance(keys, str) else keys))
    return state
