"""What goes wrong among processes with a device each: tensors of the host, different calls, ends in the middle."""
import os
import signal

import pytest
from harness.device_ranks import MACHINES, begin_on_devices, environment, needs_mpich, on_devices
from harness.ranks import HEAD, run_ranks


def test_tensors_of_the_host_are_refused_by_name():
    on_devices('''
    words = "No backend type associated with device type cpu"
    refused(lambda: dist.all_reduce(torch.ones(2)), words, kind=RuntimeError)
    refused(lambda: dist.send(torch.ones(2), 1 - rank), words)
    refused(lambda: dist.monitored_barrier(), "only implemented for GLOO")
    refused(lambda: dist.irecv(torch.ones(2, device=device)), "does not support receives of any rank")
    x = torch.ones(2, device=device)
    dist.all_reduce(x)
    assert x.tolist() == [2.0, 2.0]
    ''')


def test_two_ranks_of_one_device_are_refused_on_both():
    on_devices('''
    refused(lambda: dist.all_reduce(torch.ones(2, device="cuda:0")), "ranks 0 and 1", "one GPU", "gloo")
    ''')


def test_different_calls_are_told_in_debug_mode():
    on_devices('''
    x = torch.ones(2 + rank, device=device)
    refused(lambda: dist.all_reduce(x), "2 elements of float32 on rank", "3 elements of float32", kind=RuntimeError)
    refused(lambda: dist.all_reduce(x[:2]) if rank else dist.broadcast(x[:2], 0), "all_reduce", "broadcast")
    outs = torch.zeros(4, device=device)
    refused(lambda: dist.all_to_all_single(outs, x[:2], [2, 2], [1, 1]), "all_to_all", "bytes that rank")
    y = torch.ones(2, device=device)
    dist.all_reduce(y)
    assert y.tolist() == [2.0, 2.0]
    ''', TORCH_DISTRIBUTED_DEBUG="DETAIL")


@pytest.mark.parametrize("machines", ["one", "two"])
def test_a_killed_rank_is_named(machines):
    if machines == "two":
        needs_mpich()
    found = begin_on_devices((MACHINES if machines == "two" else "") + '''
dist.init_process_group("nccl")
import signal, time
x = torch.ones(1000, device=device)
dist.all_reduce(x)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.monotonic()
try:
    dist.all_reduce(x)
    torch.cuda.synchronize()
except RuntimeError as error:
    print(time.monotonic() - begin < 10, error)
try:
    dist.all_reduce(x)
except RuntimeError as error:
    print(error)
''', begin=None).finish()
    assert found[1][0] == -signal.SIGKILL and found[0][0] == 0, found
    first, second = found[0][1].splitlines()
    who = "rank 1 (process" if machines == "one" else "rank 1 has ended"
    assert first.startswith("True") and who in first and "has ended" in first and "all_reduce" in first
    assert who in second and "a new one" in second


def test_a_rank_that_does_not_come_is_given_up():
    found = begin_on_devices('''
    import time
    x = torch.ones(10, device=device)
    dist.all_reduce(x)
    if rank == 1:
        time.sleep(6)
    try:
        dist.all_reduce(x)
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(error)
    ''', begin="'nccl', timeout=__import__('datetime').timedelta(seconds=2)").finish()
    assert "has not come in time" in found[0][1], found


def test_without_the_library_its_wheel_is_named():
    words = environment()
    if not os.environ.get("DRAGON_SIMT"):
        return  # a machine with GPUs has the library where it has it
    words = {**words, "DRAGON_CUDA_LIBRARIES": "/nowhere"}
    run_ranks('''
    import os
    import dragon
    dragon.load_library(os.environ["DRAGON_SIMT"])
    from dragon.vm import torch
    from dragon.vm.torch import distributed as dist
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    assert not dist.is_nccl_available() and not dist.is_backend_available("nccl")
    try:
        dist.init_process_group("nccl")
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "nvidia-nccl-cu13" in str(error), error
    from dragon import ops
    from dragon.distributed.group import ProcessGroup
    from dragon.distributed.stores.tcp import TCPStore
    group = ProcessGroup(TCPStore("127.0.0.1", port, rank == 0, 30.0), rank, size, 30.0)
    try:
        ops.all_reduce(torch.ones(2, device=f"cuda:{rank}"), group.number)
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "nvidia-nccl-cu13" in str(error) and "libnccl.so.2" in str(error), error
    group.barrier()
    ''', 2, HEAD, environment=words)
