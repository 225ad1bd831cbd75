"""Programs of several processes print what they print with PyTorch and gloo."""
import pytest
from harness.ranks import run_ranks

HEAD = """
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
if {ours}:
    import dragon.vm
    dragon.vm.install()
from datetime import timedelta
import torch
import torch.distributed as dist
from torch import nn
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=size,
                        timeout=timedelta(seconds=60))
"""

TENSORS = '''
def fresh(n=4):
    return torch.arange(float(n)) + rank
x = fresh(); dist.all_reduce(x); print("all_reduce", x.tolist())
for op in (dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT):
    x = fresh(); work = dist.all_reduce(x, op=op, async_op=True); print(work.wait(), x.tolist(), work.is_completed())
x = torch.tensor([5, 3 + rank]); dist.all_reduce(x, op=dist.ReduceOp.BOR); print(x.tolist())
x = fresh(); dist.broadcast(x, 1); print("broadcast", x.tolist())
x = fresh(); dist.reduce(x, 0); print("reduce", x.tolist() if rank == 0 else None)
made = [torch.zeros(2, 3) for _ in range(size)]
dist.all_gather(made, torch.full((2, 3), float(rank))); print([each.tolist() for each in made])
out = torch.zeros(2 * size, 3)
dist.all_gather_into_tensor(out, torch.full((2, 3), float(rank))); print(out.tolist())
out = torch.zeros(3)
dist.scatter(out, [torch.full((3,), 10.0 * i) for i in range(size)] if rank == 0 else None, src=0); print(out.tolist())
made = [torch.zeros(3) for _ in range(size)] if rank == 1 else None
dist.gather(torch.full((3,), float(rank)), made, dst=1); print([each.tolist() for each in made or ()])
out = torch.zeros(2)
dist.reduce_scatter(out, [torch.full((2,), float(rank + i)) for i in range(size)]); print(out.tolist())
dist.reduce_scatter_tensor(out, torch.arange(2.0 * size) * (rank + 1)); print(out.tolist())
out = torch.zeros(size)
dist.all_to_all_single(out, torch.arange(float(size)) + 10 * rank); print(out.tolist())
counts = [[1, 2, 0], [0, 1, 3], [2, 0, 1]]
sends, receives = counts[rank][:size], [row[rank] for row in counts[:size]]
out = torch.zeros(sum(receives), 2)
dist.all_to_all_single(out, torch.full((sum(sends), 2), float(rank)), receives, sends); print(out.tolist())
made = [torch.zeros(1) for _ in range(size)]
dist.all_to_all(made, list((torch.arange(float(size)) + 10 * rank).chunk(size)))
print([each.tolist() for each in made])
for x in (torch.ones(3, dtype=torch.float16) * rank, torch.ones(2, 2).t() * rank,
          torch.arange(6.0).reshape(2, 3).t() + rank, torch.zeros(0), torch.tensor(2.0 + rank),
          nn.Parameter(torch.ones(2) * rank).data):
    dist.all_reduce(x); print(x.tolist(), x.dtype)
dist.barrier()
print(dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_initialized())
dist.destroy_process_group(); print(dist.is_initialized())
'''

OBJECTS = '''
made = [None] * size
dist.all_gather_object(made, {"rank": rank, "list": [1] * rank}); print(made)
made = ["a", {"b": rank}] if rank == 0 else [None, None]
dist.broadcast_object_list(made, 0); print(made)
made = [None]
dist.scatter_object_list(made, [(i, i) for i in range(size)] if rank == 0 else None, src=0); print(made)
made = [None] * size if rank == 0 else None
dist.gather_object(rank * 2, made, dst=0); print(made)
if rank == 0:
    dist.send_object_list([1, "two"], 1)
elif rank == 1:
    made = [None, None]; print(dist.recv_object_list(made, 0), made)
dist.barrier()
'''

MESSAGES = '''
if rank == 0:
    dist.send(torch.arange(5.0), 1); x = torch.zeros(5); print(dist.recv(x, 1), x.tolist())
elif rank == 1:
    x = torch.zeros(5); print(dist.recv(x), x.tolist()); dist.send(x * 2, 0)
works = [dist.isend(torch.full((70_000,), float(rank)), (rank + 1) % size, tag=3)]
x = torch.zeros(70_000); works.append(dist.irecv(x, (rank - 1) % size, tag=3))
print([work.wait() for work in works], x[0].item(), x[-1].item())
x = torch.zeros(3)
pair = [dist.P2POp(dist.isend, torch.ones(3) * rank, (rank + 1) % size), dist.P2POp(dist.irecv, x, (rank - 1) % size)]
for work in dist.batch_isend_irecv(pair):
    work.wait()
print(x.tolist())
dist.barrier()
'''

GROUPS = '''
few = dist.new_group([1, 0])
print(dist.get_rank(few), dist.get_world_size(few))
if rank < 2:
    x = torch.ones(2) * (rank + 1); dist.all_reduce(x, group=few); print(x.tolist())
    print(dist.get_process_group_ranks(few), dist.get_global_rank(few, 1), dist.get_group_rank(few, 0))
    x = torch.ones(2) * rank; dist.broadcast(x, src=1, group=few); print(x.tolist())
each = [dist.new_group([i]) for i in range(size)][rank]
x = torch.ones(1) * rank; dist.all_reduce(x, group=each); print(x.tolist())
mine, made = dist.new_subgroups(1)
print(len(made), dist.get_world_size(mine), dist.get_process_group_ranks(mine))
for call in (lambda: dist.new_group([size]), lambda: dist.new_group([0] * (size + 1)),
             lambda: dist.new_subgroups(size + 1), lambda: dist.init_process_group("gloo"),
             lambda: dist.all_reduce("x"),
             lambda: dist.gather(torch.ones(1), dst=rank), lambda: dist.all_gather(torch.ones(1), torch.ones(1)),
             lambda: dist.send(torch.ones(1), rank)):
    try:
        call(); print("no error")
    except Exception as error:
        print(type(error).__name__)
dist.barrier()
'''

TRAINING = '''
from torch.nn.parallel import DistributedDataParallel as DDP
torch.manual_seed(rank)
def train(model, accumulates=False, steps=5, **options):
    ddp, loss_of = DDP(model, **options), nn.MSELoss()
    optimizer = torch.optim.SGD(ddp.parameters(), 0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)
    for _ in range(steps):
        x, y = torch.randn(8, 10, generator=generator), torch.randn(8, 4, generator=generator)
        optimizer.zero_grad()
        if accumulates:
            with ddp.no_sync():
                loss_of(ddp(x), y).backward()
        loss = loss_of(ddp(x), y)
        loss.backward()
        optimizer.step()
    total = loss.detach().clone(); dist.all_reduce(total)
    print(f"{total.item():.4f} {sum(p.abs().sum().item() for p in model.parameters()):.2f}")
    return ddp
print(list(DDP(nn.Linear(3, 3)).state_dict()))
train(nn.Sequential(nn.Linear(10, 30), nn.BatchNorm1d(30), nn.ReLU(), nn.Linear(30, 4)))
train(nn.Sequential(nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 4)), True)
train(nn.Sequential(nn.Linear(10, 600), nn.ReLU(), nn.Linear(600, 4)), gradient_as_bucket_view=True, bucket_cap_mb=0.01)
class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(10, 4), nn.Linear(10, 4), nn.Linear(2, 2)
    def forward(self, x):
        return self.a(x) if rank == 0 else self.b(x)
ddp = train(Branches(), find_unused_parameters=True)
print(ddp.module.c.weight.grad)
try:
    ddp, x = DDP(Branches()), torch.randn(2, 10)
    ddp(x).sum().backward()
    ddp(x).sum().backward()
except RuntimeError as error:
    print(str(error)[:80])
def hook(state, bucket):
    state.append((bucket.index(), bucket.is_last(), [tuple(each.shape) for each in bucket.gradients()]))
    future = dist.all_reduce(bucket.buffer().div_(size), async_op=True).get_future()
    return future.then(lambda future: future.value()[0])
dist.barrier()
torch.manual_seed(0)
ddp, state = DDP(nn.Linear(10, 4)), []
ddp.register_comm_hook(state, hook)
ddp(torch.ones(2, 10) * (rank + 1)).sum().backward()
print(ddp.module.weight.grad[0, :3].tolist(), state)
dist.barrier()
'''

LARGE = '''
from torch.nn.parallel import DistributedDataParallel as DDP
class Large(nn.Module):  # gradients that travel by themselves, beside small ones, and one that only some processes have
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(10, 300), nn.LayerNorm(300)
        self.middle, self.other, self.last = nn.Linear(300, 300), nn.Linear(300, 300), nn.Linear(300, 2)
    def forward(self, x):
        x = self.norm(self.first(x))
        return self.last(torch.tanh(self.other(x) if rank == 0 and self.training else self.middle(x)))
for views in (False, True):
    for keeps in (False, True):
        torch.manual_seed(7)
        ddp, generator = DDP(Large(), find_unused_parameters=True, gradient_as_bucket_view=views), torch.Generator()
        generator.manual_seed(rank)
        optimizer, held = torch.optim.SGD(ddp.parameters(), 0.05), None
        for step in range(4):
            optimizer.zero_grad(set_to_none=not keeps)
            x = torch.randn(3, 10, generator=generator)
            if step == 2:
                with ddp.no_sync():
                    ddp(x).square().sum().backward()
            ddp(x).square().sum().backward()
            weight = ddp.module.middle.weight
            if keeps and not views:
                print(held is None or held is weight.grad, held is None or torch.equal(held, weight.grad))
                held = weight.grad
            optimizer.step()
        print(*(f"{param.grad.abs().sum().item():.4g} {param.abs().sum().item():.4g}" for param in ddp.parameters()))
torch.manual_seed(7)
ddp = DDP(Large().eval())
with torch.no_grad():
    ddp.module.other.requires_grad_(False)
ddp = DDP(ddp.module)
ddp.register_comm_hook(None, lambda state, bucket: dist.all_reduce(
    bucket.buffer() * 2, async_op=True).get_future().then(lambda future: future.value()[0]))
for _ in range(2):
    ddp(torch.ones(2, 10) * (rank + 1)).square().sum().backward()
    print(*(f"{param.grad.abs().sum().item():.4g}" for param in ddp.parameters() if param.grad is not None))
dist.barrier()
'''

OPTIONS = '''
from torch.nn.parallel import DistributedDataParallel as DDP
for options in ({"forward_sync_buffers": False}, {"broadcast_buffers": False}, {"forward_sync_buffers": True},
                {"broadcast_buffers": True, "forward_sync_buffers": False}, {"bucket_cap_mb_list": [0.0001, 0.001]}):
    torch.manual_seed(1)
    ddp, generator = DDP(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), **options), torch.Generator()
    generator.manual_seed(rank)
    for _ in range(2):
        ddp(torch.randn(5, 4, generator=generator)).square().sum().backward()
    print([f"{value:.4f}" for value in ddp.module[1].running_mean.tolist()], ddp.forward_sync_buffers)
class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 2), nn.Linear(4, 2)
    def forward(self, x):
        return self.a(x)
torch.manual_seed(1)
ddp = DDP(Branch(), static_graph=True)
for _ in range(3):
    ddp.zero_grad()
    ddp(torch.ones(2, 4) * (rank + 1)).sum().backward()
    print(ddp.module.a.weight.grad.tolist(), ddp.module.b.weight.grad is None)
dist.barrier()
'''

GRADIENTS = '''
from torch.distributed.nn import functional as F
def gradient(call):
    x = (torch.arange(4.0) + rank).requires_grad_()
    made = call(x)
    made = torch.cat([part.reshape(-1) for part in made]) if isinstance(made, tuple) else made
    (made * (torch.arange(float(made.numel())) + 1 + rank)).sum().backward()
    print(made.tolist(), x.grad.tolist())
gradient(lambda x: F.all_reduce(x))
gradient(lambda x: F.all_gather(x))
gradient(lambda x: F.broadcast(x, 1))
gradient(lambda x: F.gather(x, 0))
gradient(lambda x: F.scatter([x * (i + 1) for i in range(size)], 0))
gradient(lambda x: F.reduce_scatter(torch.zeros(4), [x * (i + 1) for i in range(size)]))
gradient(lambda x: F.all_to_all([torch.zeros(4) for _ in range(size)], [x * (i + 1) for i in range(size)]))
dist.barrier()
'''

UNEVEN = '''
from torch.nn.parallel import DistributedDataParallel as DDP
for by_all in (True, False):
    for make in (lambda: nn.Linear(4, 2), lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))):
        torch.manual_seed(3)
        ddp, generator = DDP(make()), torch.Generator().manual_seed(rank)
        optimizer = torch.optim.SGD(ddp.parameters(), 0.1)
        with ddp.join(divide_by_initial_world_size=by_all):
            for step in range(3 + 2 * rank):
                optimizer.zero_grad()
                x = torch.randn(5, 4, generator=generator)
                if step == 2:
                    with ddp.no_sync():
                        ddp(x).square().sum().backward()
                ddp(x).square().sum().backward()
                optimizer.step()
        print(*(f"{sum(each.abs().sum().item() for each in held):.3f}" for held in (ddp.parameters(), ddp.buffers())))
ddp = DDP(nn.Linear(4, 2))
try:
    with ddp.join(throw_on_early_termination=True):
        for _ in range(3 + rank):
            ddp(torch.ones(2, 4)).sum().backward()
except RuntimeError as error:
    print(error)
'''

HOOKS = '''
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
for hook in (hooks.allreduce_hook, hooks.fp16_compress_hook, hooks.fp16_compress_wrapper(hooks.allreduce_hook)):
    torch.manual_seed(3)
    ddp, generator = DDP(nn.Linear(4, 2)), torch.Generator().manual_seed(rank)
    ddp.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(ddp.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ddp(torch.randn(5, 4, generator=generator)).square().sum().backward()
        optimizer.step()
    grad = ddp.module.weight.grad
    print(grad.dtype, [f"{value:.4f}" for value in grad.flatten().tolist()])
dist.barrier()
'''

PROGRAMS = {"tensors": TENSORS, "objects": OBJECTS, "messages": MESSAGES, "groups": GROUPS, "training": TRAINING,
            "uneven": UNEVEN, "hooks": HOOKS, "large": LARGE, "options": OPTIONS,
            "gradients": GRADIENTS}


@pytest.mark.parametrize("name, size", [*((name, 2) for name in PROGRAMS), ("tensors", 3), ("groups", 3),
                                        ("messages", 3)])
def test_programs_print_what_they_print_with_gloo(name, size):
    ours, theirs = (run_ranks(PROGRAMS[name], size, HEAD.format(ours=ours)) for ours in (True, False))
    for rank in range(size):
        assert ours[rank] == theirs[rank]
