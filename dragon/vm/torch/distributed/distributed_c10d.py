"""Groups of processes and what they do together, under the name of PyTorch's file."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.distributed import groups as _groups
from dragon.vm.torch.distributed.available import (  # noqa: F401
    is_gloo_available, is_mpi_available, is_nccl_available, is_ucc_available, is_xccl_available)
from dragon.vm.torch.distributed.coalescing import _coalescing_manager, _CoalescingManager  # noqa: F401
from dragon.vm.torch.distributed.collectives import (  # noqa: F401
    _all_gather_base, _reduce_scatter_base, all_gather, all_gather_coalesced, all_gather_into_tensor, all_gather_single,
    all_reduce, all_reduce_coalesced, all_to_all, all_to_all_single, barrier, broadcast, gather, monitored_barrier,
    reduce, reduce_scatter, reduce_scatter_single, reduce_scatter_tensor, scatter, supports_complex)
from dragon.vm.torch.distributed.files import FileStore  # noqa: F401
from dragon.vm.torch.distributed.groups import (Backend, DistBackendError, DistError, DistNetworkError,  # noqa: F401
                                                DistStoreError, GroupMember, P2POp, ProcessGroup, ReduceOp, Work,
                                                _pg_map, _world)
from dragon.vm.torch.distributed.inner import (  # noqa: F401
    _get_default_store, _get_default_timeout, _get_group_size, _get_object_coll_device, _get_process_group_name,
    _get_process_group_store, _object_to_tensor, _set_pg_timeout, _tensor_to_object)
from dragon.vm.torch.distributed.making import (  # noqa: F401
    _get_default_group, _get_pg_default_device, _rank_not_in_group, default_pg_timeout, destroy_process_group,
    get_backend, get_backend_config, get_default_backend_for_device, get_global_rank, get_group_rank,
    get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank, get_world_size, init_process_group,
    is_backend_available, is_initialized, is_torchelastic_launched, new_group, new_subgroups,
    new_subgroups_by_enumeration, shrink_group, split_group)
from dragon.vm.torch.distributed.messages import batch_isend_irecv, irecv, isend, recv, send  # noqa: F401
from dragon.vm.torch.distributed.objects import (  # noqa: F401
    all_gather_object, broadcast_object_list, gather_object, recv_object_list, scatter_object_list, send_object_list)
from dragon.vm.torch.distributed.options import (AllreduceCoalescedOptions, AllreduceOptions,  # noqa: F401
                                                 AllToAllOptions, BackendConfig, BarrierOptions, BroadcastOptions,
                                                 BuiltinCommHookType, GatherOptions, ReduceOptions,
                                                 ReduceScatterOptions, ScatterOptions)
from dragon.vm.torch.distributed.rendezvous import register_rendezvous_handler, rendezvous  # noqa: F401
from dragon.vm.torch.distributed.stores import HashStore, PrefixStore, Store, TCPStore  # noqa: F401

fill(globals(), "distributed", ["GradBucket*", "Logger*", "ProcessGroupGloo*", "Reducer*"])
group = _groups.group  # last: functions above have arguments of this name
