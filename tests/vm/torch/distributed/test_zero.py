"""Optimizers whose state is spread over processes do what they do with PyTorch and gloo."""
from harness.worlds import run_beside, run_here

STEPS = '''
from torch.distributed.optim import ZeroRedundancyOptimizer as Zero
from torch.nn.parallel import DistributedDataParallel as DDP
def make():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
def losses(model, optimizer, steps=4, seed=0):
    generator = torch.Generator().manual_seed(seed + rank)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(5, 6, generator=generator)).square().mean()
        loss.backward()
        optimizer.step()
    told(*[param.sum() for param in model.parameters()])
for kind, options in ((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}), (torch.optim.Adam, {"lr": 0.01}),
                      (torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1})):
    for views in (False, True):
        ddp = DDP(make())
        losses(ddp, Zero(ddp.parameters(), kind, parameters_as_bucket_view=views, **options))
        whole = DDP(make())
        losses(whole, kind(whole.parameters(), **options))
ddp = DDP(make())
zero = Zero(ddp.parameters(), torch.optim.Adam, lr=0.01)
print([[tuple(p.shape) for group in part for p in group["params"]] for part in zero._partition_parameters()])
print([tuple(p.shape) for group in zero.optim.param_groups for p in group["params"]])
losses(ddp, zero)
print(len(zero.optim.state), zero.rank, zero.world_size, zero.param_groups[0]["lr"])
try:
    zero.state_dict()
except RuntimeError as error:
    print(error)
zero.consolidate_state_dict(to=0)
if rank == 0:
    state = zero.state_dict()
    print(list(state), list(state["state"]), state["param_groups"][0]["params"])
    told(*[each["exp_avg"].sum() for each in state["state"].values()])
import copy
made = [copy.deepcopy(zero.state_dict()) if rank == 0 else None]  # theirs share tensors with the optimizer
dist.broadcast_object_list(made, 0)
other = DDP(make())
other.load_state_dict(ddp.state_dict())
again = Zero(other.parameters(), torch.optim.Adam, lr=0.5)
again.load_state_dict(copy.deepcopy(made[0]))  # theirs writes into what it gets
print(again.param_groups[0]["lr"], again.optim.param_groups[0]["lr"], len(again.optim.state))
losses(ddp, zero, seed=5)
losses(other, again, seed=5)
alone = make()
alone.load_state_dict(ddp.module.state_dict())
plain = torch.optim.Adam(alone.parameters())
plain.load_state_dict(made[0])  # one process takes the state of all
print(len(plain.state), plain.param_groups[0]["lr"])
'''
GROUPS = '''
from torch.distributed.optim import ZeroRedundancyOptimizer as Zero
one, two = nn.Linear(4, 3), nn.Linear(3, 2)
zero = Zero([{"params": one.parameters(), "lr": 0.1}, {"params": [two.weight]}], torch.optim.SGD, lr=0.5)
zero.add_param_group({"params": [two.bias], "lr": 0.3})
print([group["lr"] for group in zero.param_groups], [len(group["params"]) for group in zero.optim.param_groups])
two(one(torch.ones(2, 4))).sum().backward()
scheduler = torch.optim.lr_scheduler.StepLR(zero, 1, 0.5)
for _ in range(3):
    zero.step()
    scheduler.step()
told(*[p.sum() for p in (*one.parameters(), *two.parameters())])
print([group["lr"] for group in zero.optim.param_groups])
one.weight.requires_grad_(False)
one.weight.grad = None
zero.step()
def closure():
    return torch.tensor(7.0)
print(zero.step(closure=closure).item())
half = dist.new_group([rank], use_local_synchronization=True)
mine = Zero(one.parameters(), torch.optim.SGD, half, lr=0.1)
print(mine.world_size, len(mine.optim.param_groups[0]["params"]))
for call in (lambda: Zero([], torch.optim.SGD, lr=1), lambda: Zero(one.weight, torch.optim.SGD, lr=1),
             lambda: Zero(3, torch.optim.SGD, lr=1), lambda: Zero([1, 2], torch.optim.SGD, lr=1),
             lambda: Zero([{"lr": 3}], torch.optim.SGD, lr=1),
             lambda: Zero([torch.ones(2), torch.ones(2).double()], torch.optim.SGD, lr=1)):
    try:
        call(); print("no error")
    except (TypeError, ValueError) as error:
        print(type(error).__name__, str(error)[:60])
'''
UNEVEN = '''
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer as Zero
from torch.nn.parallel import DistributedDataParallel as DDP
torch.manual_seed(3)
ddp = DDP(nn.Linear(4, 2))
zero = Zero(ddp.parameters(), torch.optim.Adam, lr=0.1)
with Join([ddp, zero]):
    for step in range(3 + 2 * rank):
        zero.zero_grad()
        ddp(torch.full((2, 4), float(step))).square().sum().backward()
        zero.step()
told(*[p.sum() for p in ddp.parameters()])
'''
IN_BACKWARD = '''
from torch.distributed.optim import _apply_optimizer_in_backward, _get_in_backward_optimizers
model = nn.Linear(3, 2)
_apply_optimizer_in_backward(torch.optim.SGD, model.parameters(), {"lr": 0.5})
_apply_optimizer_in_backward(torch.optim.SGD, [model.bias], {"lr": 0.25})
model(torch.ones(1, 3)).square().sum().backward()
print(model.weight.grad, model.bias.grad, [len(each.param_groups) for each in _get_in_backward_optimizers(model)])
told(*model.parameters())
'''


def test_steps_and_states():
    run_beside(STEPS, 2)


def test_groups_and_uneven_inputs():
    run_beside(GROUPS + UNEVEN + IN_BACKWARD, 2)


OVERLAP = '''
from torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook import (
    hook_with_zero_step, hook_with_zero_step_interleaved)
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, fp16_compress_hook
from torch.distributed.optim import ZeroRedundancyOptimizer as Zero
from torch.nn.parallel import DistributedDataParallel as DDP
if "dragon" not in sys.modules:
    dist.get_backend = lambda group=None: "some"  # PyTorch's hooks refuse gloo, which may hang; these few steps do not
def make():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
def losses(model, optimizer, steps=6, idle=0):
    generator = torch.Generator().manual_seed(rank)
    for step in range(steps):
        for param in model.parameters():
            param.grad = None
        model(torch.randn(5, 6, generator=generator)).square().mean().backward()
        if optimizer is not None and step >= idle:
            optimizer.step()
    return [param.detach().clone() for param in model.parameters()]
KINDS = ((torch.optim.SGD, dict(lr=0.1)), (torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
         (torch.optim.Adam, dict(lr=0.01)), (torch.optim.AdamW, dict(lr=0.01)),
         (torch.optim.RMSprop, dict(lr=0.01)))
for kind, options in KINDS + MORE:
    ddp = DDP(make())
    expected = losses(ddp, kind(ddp.parameters(), **options), idle=2)
    for wrap in WRAPS:
        for cuts in (False, True):
            ddp = DDP(make(), bucket_cap_mb=0.0003)
            zero = Zero(ddp.parameters(), kind, overlap_with_ddp=True, **options)
            ddp.register_comm_hook(None, wrap(allreduce_hook, ddp, zero, cuts))
            found = losses(ddp, None)
            for one, two in zip(found, expected):
                torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)
            told(kind.__name__, *[param.sum() for param in found])
def refused(call):
    try:
        call()
    except (ValueError, RuntimeError) as error:
        return type(error).__name__
plain = Zero(make().parameters(), torch.optim.SGD, lr=0.1)
told(refused(lambda: WRAPS[0](allreduce_hook, ddp, plain)), refused(lambda: Zero(
    make().parameters(), torch.optim.LBFGS, overlap_with_ddp=True)), str(zero.step()), refused(
    lambda: zero.add_param_group({"params": [nn.Parameter(torch.ones(2))]})))
zero = Zero(ddp.parameters(), torch.optim.SGD, overlap_with_ddp=True, lr=0.1)
told(refused(zero.consolidate_state_dict), refused(zero.state_dict), refused(lambda: zero.load_state_dict({})))
'''
MORE = """
WRAPS = hook_with_zero_step, hook_with_zero_step_interleaved
MORE = (torch.optim.Adagrad, dict(lr=0.01)), (torch.optim.Adadelta, {}), (torch.optim.Rprop, {})  # PyTorch's fail there
"""
OWN = '''
for static in (False, True):  # schedules of rates, states that are collected, and hooks that send less
    ddp = DDP(make(), static_graph=static)
    optimizer = torch.optim.Adam(ddp.parameters(), lr=0.01)
    expected = losses(ddp, optimizer, idle=3 if static else 2)
    ddp = DDP(make(), static_graph=static, bucket_cap_mb=0.0003)
    zero = Zero(ddp.parameters(), torch.optim.Adam, overlap_with_ddp=True, lr=0.01)
    ddp.register_comm_hook(None, WRAPS[1](fp16_compress_hook if static else allreduce_hook, ddp, zero, True))
    for one, two in zip(losses(ddp, None), expected):
        torch.testing.assert_close(one, two, rtol=1e-2 if static else 1e-5, atol=1e-3 if static else 1e-6)
    zero.consolidate_state_dict()
    if rank == 0 and not static:
        state, other = zero.state_dict(), optimizer.state_dict()
        assert sorted(state["state"]) == sorted(other["state"])
        for place, each in other["state"].items():
            torch.testing.assert_close(state["state"][place]["exp_avg"], each["exp_avg"], rtol=1e-4, atol=1e-6)
    zero.param_groups[0]["lr"] = 0.0
    before = [param.detach().clone() for param in ddp.parameters()]
    assert all(torch.equal(one, two) for one, two in zip(losses(ddp, None, 2), before))
'''


def test_steps_within_the_backward_pass():
    run_beside(OVERLAP.replace("def make", "WRAPS, MORE = (hook_with_zero_step,), ()\ndef make", 1), 2)


def test_steps_between_the_buckets_of_a_backward_pass():
    run_here(OVERLAP.replace("def make", MORE + "def make", 1) + OWN, 3)
