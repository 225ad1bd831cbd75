"""Communication hooks, and models that are averaged, do what they do with PyTorch and gloo."""
import pytest
from harness.worlds import run_beside, run_here

TRAIN = '''
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.algorithms import ddp_comm_hooks
from torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType, debugging_hooks, default_hooks, post_localSGD_hook as local, powerSGD_hook as power,
    quantization_hooks, register_ddp_comm_hook)

def train(register, make=lambda: nn.Linear(12, 9), steps=4, averager=None, make_optimizer=None, is_single=True):
    torch.manual_seed(3)
    ddp, generator = DDP(make()), torch.Generator().manual_seed(rank)
    register(ddp)
    optimizer = torch.optim.SGD(ddp.parameters(), 0.02)
    optimizer = optimizer if make_optimizer is None else make_optimizer(optimizer)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ddp(torch.randn(5, 12, generator=generator)).square().mean()
        loss.backward()
        optimizer.step()
        if averager is not None:
            averager.average_parameters(ddp.parameters())
    told(*[part for param in ddp.parameters() for part in (param.flatten()[:6], param.sum())], digits=3)
    return ddp, optimizer

def hook(function, state=None):
    return lambda ddp: ddp.register_comm_hook(state, function)
'''
HOOKS = TRAIN + '''
for kind in DDPCommHookType:
    if "BATCHED" not in kind.name and "QUANT" not in kind.name and kind.name != "BF16_COMPRESS":  # gloo lacks those
        train(lambda ddp: register_ddp_comm_hook(kind, ddp, dist.group.WORLD))
train(hook(default_hooks.fp16_compress_wrapper(power.powerSGD_hook), power.PowerSGDState(None, 1, 2)))
for options in ({}, {"use_error_feedback": False}, {"warm_start": False}, {"batch_tensors_with_same_shape": True},
                {"matrix_approximation_rank": 3}, {"orthogonalization_epsilon": 1e-3}, {"min_compression_rate": 100}):
    state = power.PowerSGDState(None, **{"matrix_approximation_rank": 2, "min_compression_rate": 1, **options},
                                start_powerSGD_iter=2)
    train(hook(power.powerSGD_hook, state), steps=6)
    told(state.iter, *state.compression_stats())
import pickle
again = pickle.loads(pickle.dumps(state))
print(again.process_group is dist.group.WORLD, again.iter, again.rng.randint(100))
for options in ({"start_powerSGD_iter": 1}, {"start_powerSGD_iter": 0, "warm_start": False}):
    try:
        power.PowerSGDState(None, **options)
    except ValueError as error:
        print(error)
'''
OF_OTHERS = TRAIN + '''
def waits_within(state, bucket):  # a hook of somebody's that waits for one collective in what follows another
    group = dist.group.WORLD
    future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    def go_on(future):
        half = future.value()[0] / (2 * size)
        return dist.all_reduce(half, async_op=True).get_future().wait()[0]
    return future.then(go_on).then(lambda future: future.wait() * (2 / size))
train(hook(waits_within))
'''
LOCAL = TRAIN + '''
from torch.distributed.algorithms.model_averaging import averagers, utils
from torch.distributed.algorithms.model_averaging.hierarchical_model_averager import HierarchicalModelAverager
from torch.distributed.optim import PostLocalSGDOptimizer
mine, _ = dist.new_subgroups(1)
for after in (True, False):
    state = local.PostLocalSGDState(None, mine, 2, after)
    train(hook(local.post_localSGD_hook, state), averager=averagers.PeriodicModelAverager(2, warmup_steps=2), steps=6)
    print(state.iter)
averager = averagers.PeriodicModelAverager(period=3, warmup_steps=1)
_, optimizer = train(hook(local.post_localSGD_hook, local.PostLocalSGDState(None, mine, 1)), steps=7,
                     make_optimizer=lambda optimizer: PostLocalSGDOptimizer(optimizer, averager))
print(sorted(optimizer.state_dict()), optimizer.state_dict()["step"], averager.step)
optimizer.load_state_dict(optimizer.state_dict() | {"step": 5})
print(averager.step, len(optimizer.param_groups), repr(optimizer).splitlines()[0])
train(hook(local.post_localSGD_hook, local.PostLocalSGDState(None, mine, 1)), steps=9,
      averager=HierarchicalModelAverager({2: 1, 4: size}, warmup_steps=1))
x = nn.Parameter(torch.ones(2) * rank)
utils.average_parameters([x], None); print(x.tolist())
for call in (lambda: averagers.PeriodicModelAverager(0), lambda: averagers.PeriodicModelAverager(2, warmup_steps=-1),
             lambda: HierarchicalModelAverager({}), lambda: HierarchicalModelAverager({0: size}),
             lambda: HierarchicalModelAverager({2: size + 1}), lambda: utils.get_params_to_average([3])):
    try:
        call(); print("no error")
    except (ValueError, NotImplementedError) as error:
        print(type(error).__name__, error)
'''
OURS = TRAIN + '''
for function in (quantization_hooks.quantization_pertensor_hook, quantization_hooks.quantization_perchannel_hook):
    torch.manual_seed(1)
    ddp = DDP(nn.Linear(30, 40))
    ddp.register_comm_hook(None, function)
    x = torch.randn(5, 30, generator=torch.Generator().manual_seed(rank))
    ddp(x).square().mean().backward()
    plain = nn.Linear(30, 40)
    plain.load_state_dict(ddp.module.state_dict())
    plain(x).square().mean().backward()
    for one, two in zip(ddp.parameters(), plain.parameters()):
        span = two.grad.abs().max()
        dist.all_reduce(two.grad)
        dist.all_reduce(span, dist.ReduceOp.MAX)
        off = (one.grad - two.grad / size).abs().max()
        assert one.grad.dtype is torch.float32 and 0 < off < 3 * span / 255, (off, span)
ddp = DDP(nn.Linear(3, 3))
register_ddp_comm_hook(DDPCommHookType.BF16_COMPRESS, ddp)
ddp(torch.ones(1, 3) * rank).sum().backward()
assert ddp.module.weight.grad.dtype is torch.float32 and ddp.module.weight.grad[0].tolist() == [0.5] * 3
for kind in (DDPCommHookType.BATCHED_POWER_SGD, DDPCommHookType.BATCHED_POWER_SGD_RANK2):
    ddp = DDP(nn.Linear(3, 3))
    register_ddp_comm_hook(kind, ddp, None)
state = power.PowerSGDState(None, 4, 2)
ddp = DDP(nn.Linear(3, 4, bias=False))  # 12 numbers: a square of 4 x 4, which 4 columns tell exactly
ddp.register_comm_hook(state, power.batched_powerSGD_hook)
for step in range(5):
    ddp.zero_grad()
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(10 * step + rank))
    ddp(x).square().mean().backward()
    alone = nn.Linear(3, 4, bias=False)
    alone.load_state_dict(ddp.module.state_dict())
    alone(x).square().mean().backward()
    dist.all_reduce(alone.weight.grad)
    torch.testing.assert_close(ddp.module.weight.grad, alone.weight.grad / size, rtol=1e-4, atol=1e-5)
assert state.iter == 5 and 0 in state.error_dict
'''


@pytest.mark.parametrize("program", [HOOKS, OF_OTHERS, LOCAL], ids=["hooks", "of_others", "local"])
def test_programs_print_what_they_print_with_gloo(program):
    run_beside(program, 2)


def test_what_gloo_lacks_is_near_the_mean():
    run_here(OURS, 2)
