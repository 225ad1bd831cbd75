"""Groups of processes with a CUDA device each, whose tensors NCCL carries: beside genuine gloo on the host."""
import pytest
from harness.device_ranks import MACHINES, beside_genuine, genuine, needs_mpich, on_devices

EVERY = '''
def show(*tensors):
    print([(str(each.dtype).split(".")[-1], each.cpu().tolist()) for each in tensors])

for kind in ("float32", "float64", "int32", "int64", "uint8", "int8"):
    dtype = getattr(torch, kind)
    x = torch.arange(6).to(dtype).to(device) + rank + 1
    for name in ("SUM", "PRODUCT", "MIN", "MAX"):
        y = x.clone()
        dist.all_reduce(y, getattr(dist.ReduceOp, name))
        show(y)
        y = x.clone()
        dist.reduce(y, 1, getattr(dist.ReduceOp, name))
        if rank == 1:
            show(y)
    y = x.clone()
    dist.broadcast(y, 1)
    parts = [torch.zeros_like(x) for _ in range(size)]
    dist.all_gather(parts, x)
    show(y, *parts)
    whole = torch.zeros(6 * size, dtype=dtype, device=device)
    dist.all_gather_into_tensor(whole, x)
    show(whole)
    taken = [torch.zeros_like(x) for _ in range(size)] if rank == 1 else None
    dist.gather(x, taken, 1)
    show(*(taken or ()))
    given = [x + 10 * q for q in range(size)] if rank == 0 else None
    dist.scatter(y, given, 0)
    show(y)
    outs = [torch.zeros_like(x) for _ in range(size)]
    dist.all_to_all(outs, [x + q for q in range(size)])
    show(*outs)
    uneven = torch.zeros(2 * (rank + 1) + 0, dtype=dtype, device=device)
    sends = torch.arange(3).to(dtype).to(device) + 10 * rank
    dist.all_to_all_single(uneven, sends, [rank + 1] * 2, [1, 2])
    show(uneven)
    if rank == 0:
        dist.send(x, 1)
        dist.recv(y, 1)
    else:
        dist.recv(y, 0)
        dist.send(x, 0)
    show(y)
a, b = torch.full((3,), float(rank), device=device), torch.zeros(3, device=device)
other = 1 - rank
for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, a, other), dist.P2POp(dist.irecv, b, other)]):
    work.wait()
show(b)
z = torch.tensor([1 + 2j * rank, 3.0 - 1j], device=device)
dist.all_reduce(z)
show(torch.view_as_real(z))
dist.barrier()
big = torch.arange(1 << 18, dtype=torch.float32, device=device) * (rank + 1)
dist.all_reduce(big)
print(big.double().sum().item(), big[-1].item())
work = dist.all_reduce(big, async_op=True)
work.wait()
print(big.double().sum().item(), work.is_completed())
strided = torch.arange(12.0, device=device).reshape(3, 4).t() + rank
dist.all_reduce(strided)
show(strided)
objects = [None] * size
dist.all_gather_object(objects, {"rank": rank, "words": "ab" * rank})
print(objects)
held = [{"a": 1}, "two"] if rank == 0 else [None, None]
dist.broadcast_object_list(held, 0)
print(held)
own = [None]
dist.scatter_object_list(own, ["x", "yy"] if rank == 0 else None, 0)
print(own)
half = dist.new_group([rank], use_local_synchronization=True)
both = dist.new_group([1, 0])
y = torch.ones(2, device=device) * rank
dist.all_reduce(y, group=both)
show(y)
'''


def test_every_collective_is_as_gloo_has_it_on_the_host():
    beside_genuine(EVERY)


def test_a_group_of_gloo_takes_tensors_of_devices():
    beside_genuine(EVERY, begin="gloo")


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_between_machines_mpi_introduces_the_ranks(backend):
    needs_mpich()
    mine = on_devices(f"{MACHINES}dist.init_process_group({backend!r})\n" + EVERY, begin=None)
    assert mine == genuine(EVERY)


def test_a_group_of_both_takes_tensors_of_the_host_as_well():
    on_devices('''
    assert dist.get_backend_config() == "cpu:gloo,cuda:nccl", dist.get_backend_config()
    for where in (device, "cpu"):
        x = torch.ones(3, device=where) + rank
        dist.all_reduce(x)
        assert x.tolist() == [3.0] * 3 and x.device.type == torch.device(where).type
    assert dist.is_nccl_available() and dist.is_backend_available("nccl")
    ''', begin="cpu:gloo,cuda:nccl")


def test_three_ranks_and_numbers_that_are_small():
    on_devices('''
    if rank != 1:  # two of three, before the third has joined anybody
        y = torch.full((3,), float(rank), device=device)
        if rank == 0:
            dist.send(y, 2)
        else:
            dist.recv(y, 0)
            assert y.tolist() == [0.0] * 3
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        x = (torch.ones(5) * (rank + 1)).to(dtype).to(device)
        dist.all_reduce(x)
        assert x.float().tolist() == [6.0] * 5, (dtype, x)
    x = torch.tensor([rank == 0, rank < 2, True, False], device=device)
    for op, wanted in ((dist.ReduceOp.SUM, [1, 1, 1, 0]), (dist.ReduceOp.MAX, [1, 1, 1, 0]),
                       (dist.ReduceOp.MIN, [0, 0, 1, 0]), (dist.ReduceOp.PRODUCT, [0, 0, 1, 0])):
        y = x.clone()
        dist.all_reduce(y, op)
        assert y.int().tolist() == wanted, op
    mean = torch.full((2,), float(rank), device=device)
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    assert mean.tolist() == [1.0, 1.0]
    for value, op in ((x, dist.ReduceOp.AVG), (x, dist.ReduceOp.BXOR), (x.int(), dist.ReduceOp.BAND),
                      (x.short(), dist.ReduceOp.SUM), (x.cfloat(), dist.ReduceOp.PRODUCT)):
        refused(lambda: dist.all_reduce(value.clone(), op), "all_reduce", "reduction", kind=TypeError)
    moved = x.short()
    dist.broadcast(moved, 0)
    assert moved.tolist() == [1, 1, 1, 0]
    empty = torch.zeros(0, device=device)
    dist.all_reduce(empty)
    ring = torch.full((2,), float(rank), device=device), torch.zeros(2, device=device)
    ops = [dist.P2POp(dist.isend, ring[0], (rank + 1) % 3), dist.P2POp(dist.irecv, ring[1], (rank - 1) % 3)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    assert ring[1].tolist() == [float((rank - 1) % 3)] * 2
    ''', 3)


def test_gradients_go_the_other_way():
    on_devices('''
    from dragon import ops
    g = dist.group.WORLD._core.number
    def gradient(call, weights):
        x = (torch.arange(4.0) + rank).to(device).requires_grad_()
        call(x).backward(torch.tensor(weights, device=device))
        return x.grad.tolist()
    w, total = [1.0 + rank, 2.0, 3.0, 4.0], [3.0, 4.0, 6.0, 8.0]
    assert gradient(lambda x: ops.all_reduce(x, g), w) == total
    assert gradient(lambda x: ops.all_gather(x, g), [*map(float, range(8))]) == [2.0 * (k + 4 * rank) for k in range(4)]
    assert gradient(lambda x: ops.reduce_scatter(x, g), [1.0 + rank, 5.0]) == [1.0, 5.0, 2.0, 5.0]
    assert gradient(lambda x: ops.broadcast_from(x, g, 1), w) == (total if rank == 1 else [0.0] * 4)
    assert gradient(lambda x: ops.all_to_all(x, g), [10.0 * rank + k for k in range(4)]) == [
        [0.0, 1.0, 10.0, 11.0], [2.0, 3.0, 12.0, 13.0]][rank]
    ''')


TRAIN = '''
from dragon.vm.torch import nn
torch.manual_seed(1)
def train(wrap, x, y):
    torch.manual_seed(3)
    model = wrap(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)))
    optimizer, losses = torch.optim.AdamW(model.parameters(), 0.05), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model
x, y = torch.randn(8, 4), torch.randn(8, 2)
'''

WRAPS = {
    "ddp": '''
from dragon.vm.torch.nn.parallel import DistributedDataParallel
wrap = lambda model: DistributedDataParallel(model.to(device), device_ids=[rank])
''',
    "ddp of views": '''
from dragon.vm.torch.nn.parallel import DistributedDataParallel
wrap = lambda model: DistributedDataParallel(model.to(device), device_ids=[rank], gradient_as_bucket_view=True,
                                             find_unused_parameters=True, bucket_cap_mb=0.0001)
''',
    "fsdp": '''
from dragon.vm.torch.distributed.fsdp import FullyShardedDataParallel
wrap = lambda model: FullyShardedDataParallel(model, device_id=rank)
''',
    "fully_shard": '''
from dragon.vm.torch.distributed.fsdp import fully_shard
wrap = lambda model: fully_shard(model)
''',
}


@pytest.mark.parametrize("way", WRAPS)
@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_training_has_the_losses_of_one_process(way, backend):
    on_devices(TRAIN + WRAPS[way] + '''
alone, _ = train(lambda model: model, x, y)
half = slice(4 * rank, 4 * rank + 4)
mine, model = train(wrap, x[half].to(device), y[half].to(device))
assert all(param.is_cuda for param in model.parameters())
losses = torch.tensor(mine, device=device)
dist.all_reduce(losses)
assert torch.allclose(losses.cpu() / 2, torch.tensor(alone), atol=1e-5), (losses / 2, alone)
''', begin=backend)


def test_batch_norm_over_all_and_tensors_on_a_mesh():
    on_devices('''
    from dragon.vm.torch import nn
    torch.manual_seed(0)
    x = torch.randn(8, 5, 3)
    norm = nn.BatchNorm1d(5)
    wanted = norm(x)
    mine = nn.SyncBatchNorm(5).to(device)
    made = mine(x[4 * rank:4 * rank + 4].to(device))
    assert torch.allclose(made.cpu(), wanted[4 * rank:4 * rank + 4], atol=1e-5)
    assert torch.allclose(mine.running_var.cpu(), norm.running_var, atol=1e-5)
    from dragon.vm.torch.distributed.device_mesh import init_device_mesh
    from dragon.vm.torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, zeros
    mesh = init_device_mesh("cuda", (2,))
    a, b = torch.randn(4, 6), torch.randn(6, 3)
    cut = distribute_tensor(a, mesh, [Shard(0)])
    whole = distribute_tensor(b, mesh, [Replicate()])
    assert cut.to_local().device == device and cut.device.type == "cuda"
    assert torch.allclose((cut @ whole).full_tensor().cpu(), a @ b, atol=1e-5)
    inner = distribute_tensor(a, mesh, [Shard(1)]) @ distribute_tensor(b, mesh, [Shard(0)])
    assert torch.allclose(inner.redistribute(mesh, [Shard(0)]).full_tensor().cpu(), a @ b, atol=1e-5)
    assert zeros(4, 2, device_mesh=mesh, placements=[Shard(0)]).to_local().is_cuda
    ''')


def test_choices_and_what_the_group_says_of_itself():
    on_devices('''
    options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
    options.config.min_ctas, options.config.max_ctas = 1, 4
    refused(lambda: dist.init_process_group("nccl", device_id=torch.device("cpu")), "must be a device with an index")
    dist.init_process_group("nccl", device_id=device, pg_options=options)
    assert dist.group.WORLD.bound_device_id == device and dist.get_backend() == "nccl"
    assert dist.get_backend_config() == "cuda:nccl"
    x = torch.ones(2, device=device)
    dist.all_reduce(x, async_op=True).wait()
    seen = []
    work = dist.all_reduce(x, async_op=True)
    work.get_future().then(lambda done: seen.append(done.value()[0].tolist())).wait()
    assert seen == [[4.0, 4.0]] and work.is_success() and work.exception() is None
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = torch.ones(3, device=device)
        dist.all_reduce(y)
    torch.cuda.current_stream().wait_stream(side)
    assert y.tolist() == [2.0] * 3
    part = dist.split_group(split_ranks=[[0], [1]])
    z = torch.ones(2, device=device)
    dist.all_reduce(z, group=part)
    assert z.tolist() == [1.0, 1.0] and dist.get_world_size(part) == 1 and part.bound_device_id == device
    assert (dist.split_group(split_ranks=[[1]]) is None) == (rank == 0)
    refused(lambda: dist.split_group(split_ranks=[[0, 1], [1]]), "ranks at most once")
    dist.destroy_process_group()
    ''', begin=None)
    on_devices('''
    dist.init_process_group()
    assert dist.get_backend_config() == "cpu:gloo,cuda:nccl"
    ''', begin=None)
