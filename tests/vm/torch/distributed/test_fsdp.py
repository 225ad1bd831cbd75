"""Modules whose parameters are spread over processes train as they do in one, and as PyTorch's do with gloo."""
import pytest
from harness.worlds import run_beside, run_here

HEAD = '''
import copy, functools
from torch.distributed import fsdp
from torch.distributed.fsdp import (
    FullyShardedDataParallel as FSDP, MixedPrecision, ShardingStrategy, StateDictType, FullStateDictConfig, CPUOffload,
    FullOptimStateDictConfig, BackwardPrefetch)
from torch.distributed.fsdp.wrap import (
    CustomPolicy, ModuleWrapPolicy, enable_wrap, size_based_auto_wrap_policy, transformer_auto_wrap_policy, wrap)
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper)

CPU = torch.device("cpu")
def shard(module, **options):
    return FSDP(module, device_id=CPU, **options)  # without it theirs asks for an accelerator
class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.norm, self.first = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.second = nn.Linear(2 * width, width)
    def forward(self, x):
        return x + self.second(torch.nn.functional.gelu(self.first(self.norm(x))))
class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).flatten(2))
class GPT(nn.Module):
    def __init__(self, words=11, width=8):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(6, width) * 0.1)
        self.layers = nn.ModuleList(nn.Sequential(Attention(width), Block(width)) for _ in range(2))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight
    def forward(self, x):
        y = self.words(x) + self.places[:x.shape[1]]
        for layer in self.layers:
            y = layer(y)
        return self.head(y)
class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4)
        self.stages = nn.Sequential(*[nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(),
                                                    nn.Conv2d(4, 4, 3, padding=1)) for _ in range(2)])
        self.last = nn.Linear(4, 5)
    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        for stage in self.stages:
            x = x + stage(x)
        return self.last(x.mean((2, 3)))
def make(kind=GPT):
    torch.manual_seed(1)
    return kind()
def batch(kind, step, part=slice(None)):
    generator = torch.Generator().manual_seed(step)
    if kind is GPT:
        x = torch.randint(0, 11, (2 * size, 6), generator=generator)[part]
        return x, x.roll(1, 1).reshape(-1)
    x, y = torch.randn(2 * size, 3, 6, 6, generator=generator), torch.randint(0, 5, (2 * size,), generator=generator)
    return x[part], y[part]
def step_of(model, optimizer, kind, step, part):
    x, y = batch(kind, step, part)
    loss = nn.functional.cross_entropy(model(x).flatten(0, -2), y)
    loss.backward()
    return loss
MINE = slice(2 * rank, 2 * rank + 2)
def train(model, kind, optimizer, part=MINE, steps=3, clips=None, first=0):
    losses = []
    for step in range(first, first + steps):
        optimizer.zero_grad()
        loss = step_of(model, optimizer, kind, step, part).detach()
        if part is MINE:
            dist.all_reduce(loss)
            loss /= size
        if clips:
            losses.append(model.clip_grad_norm_(*clips).item() if isinstance(model, FSDP)
                          else nn.utils.clip_grad_norm_(model.parameters(), *clips).item())
        optimizer.step()
        losses.append(loss.item())
    return losses
BLOCKS = {GPT: ModuleWrapPolicy({Block, Attention}), ResNet: functools.partial(size_based_auto_wrap_policy,
                                                                              min_num_params=200)}
'''
EQUAL = HEAD + '''
for kind in (GPT, ResNet):
    whole = make(kind)
    optimizer = torch.optim.AdamW(whole.parameters(), 0.01, eps=1e-3)
    expected = train(whole, kind, optimizer, slice(None), clips=(0.5,))
    for strategy in ShardingStrategy:
        for originals in (False, True):
            model = FSDP(make(kind), sharding_strategy=strategy, use_orig_params=originals,
                         auto_wrap_policy=BLOCKS[kind], forward_prefetch=originals, sync_module_states=True,
                         backward_prefetch=BackwardPrefetch.BACKWARD_POST if originals else
                         BackwardPrefetch.BACKWARD_PRE)
            mine = torch.optim.AdamW(model.parameters(), 0.01, eps=1e-3)
            torch.testing.assert_close(torch.tensor(train(model, kind, mine, clips=(0.5,))), torch.tensor(expected),
                                       rtol=1e-5, atol=1e-5)
            for (name, one), (other, two) in zip(model.state_dict().items(), whole.state_dict().items()):
                assert name == other
                torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
            again = FSDP(make(kind), use_orig_params=not originals, auto_wrap_policy=BLOCKS[kind])
            print(again.load_state_dict(model.state_dict()))
            other = torch.optim.AdamW(again.parameters(), 0.01, eps=1e-3)
            state = FSDP.optim_state_dict(model, mine)
            assert set(state["state"]) == {name for name, _ in whole.named_parameters()}
            other.load_state_dict(FSDP.optim_state_dict_to_load(again, other, state))
            torch.testing.assert_close(torch.tensor(train(again, kind, other, steps=2, first=3)),
                                       torch.tensor(train(model, kind, mine, steps=2, first=3)), rtol=1e-5, atol=1e-5)
'''
STATES = HEAD + '''
from torch.distributed.tensor import DTensor
for originals in (False, True):
    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.NO_SHARD):
        model = FSDP(make(), auto_wrap_policy=BLOCKS[GPT], use_orig_params=originals, sharding_strategy=strategy)
        optimizer = torch.optim.AdamW(model.parameters(), 0.01, eps=1e-3)
        train(model, GPT, optimizer)
        whole, states = model.state_dict(), FSDP.optim_state_dict(model, optimizer)["state"]
        with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
            parts = copy.deepcopy(model.state_dict())
            state = FSDP.optim_state_dict(model, optimizer)
            assert set(parts) == set(whole) and all(isinstance(each, DTensor) for each in parts.values())
            for name, part in parts.items():
                torch.testing.assert_close(part.full_tensor(), whole[name])
                if part.dim() > 1 and strategy is ShardingStrategy.FULL_SHARD:
                    assert part.to_local().shape[0] < part.shape[0] or part.shape[0] == 1
            for name, values in state["state"].items():
                torch.testing.assert_close(values["exp_avg"].full_tensor(), states[name]["exp_avg"])
            other = FSDP(make(), auto_wrap_policy=BLOCKS[GPT], use_orig_params=originals)
            with FSDP.state_dict_type(other, StateDictType.SHARDED_STATE_DICT):
                print(other.load_state_dict(parts))
                again = torch.optim.AdamW(other.parameters(), 0.01, eps=1e-3)
                again.load_state_dict(FSDP.optim_state_dict_to_load(other, again, state))
        torch.testing.assert_close(torch.tensor(train(other, GPT, again, steps=2, first=3)),
                                   torch.tensor(train(model, GPT, optimizer, steps=2, first=3)))
    parts = FSDP.sharded_optim_state_dict(model, optimizer)
    made = FSDP.flatten_sharded_optim_state_dict(parts, model, optimizer)["state"]
    for number, values in optimizer.state_dict()["state"].items():
        torch.testing.assert_close(made[number]["exp_avg"], values["exp_avg"])
model = FSDP(make(), auto_wrap_policy=BLOCKS[GPT])
whole = model.state_dict()
with FSDP.state_dict_type(model, StateDictType.LOCAL_STATE_DICT):
    parts = {name: value.clone() for name, value in model.state_dict().items()}
    assert parts and all(name.endswith("_flat_param") and value.dim() == 1 for name, value in parts.items())
    with torch.no_grad():
        for param in model.parameters():
            param.zero_()
    print(model.load_state_dict(parts))
    try:
        FSDP.optim_state_dict(model, torch.optim.SGD(model.parameters(), 0.1))
    except NotImplementedError as error:
        print(error)
for one, two in zip(model.state_dict().values(), whole.values()):
    torch.testing.assert_close(one, two)
make().load_state_dict(whole)
model = FSDP(make(), use_orig_params=True)
step_of(model, None, GPT, 0, MINE)
alone = make()
step_of(alone, None, GPT, 0, slice(None))
with FSDP.summon_full_params(model, with_grads=True):
    for one, two in zip(model.parameters(), alone.parameters()):
        torch.testing.assert_close(one.grad, two.grad, rtol=1e-4, atol=1e-6)
        one.grad.mul_(2)
with FSDP.summon_full_params(model, with_grads=True, writeback=False):
    torch.testing.assert_close(next(model.parameters()).grad, 2 * next(alone.parameters()).grad, rtol=1e-4, atol=1e-6)
model = FSDP(nn.Linear(4, 3))
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT,
                          FullStateDictConfig(offload_to_cpu=True, rank0_only=True),
                          FullOptimStateDictConfig(rank0_only=True)):
    assert list(model.state_dict()) == (["weight", "bias"] if rank == 0 else [])
    assert FSDP.get_state_dict_type(model).state_dict_config == FullStateDictConfig(True, rank0_only=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    state = FSDP.optim_state_dict(model, optimizer)
    assert sorted(state.get("state", ())) == (["bias", "weight"] if rank == 0 else [])
    made = FSDP.optim_state_dict_to_load(model, optimizer, state)
    assert made["param_groups"][0]["params"] == [0] and tuple(made["state"][0]["momentum_buffer"].shape) == (8,)
for originals in (False, True):  # several forward passes before one backward pass, and others beside it
    model, alone = FSDP(make(), auto_wrap_policy=BLOCKS[GPT], use_orig_params=originals), make()
    for each, part in ((model, MINE), (alone, slice(None))):
        loss = sum(nn.functional.cross_entropy(each(x).flatten(0, -2), y) for x, y in (batch(GPT, 7, part),
                                                                                     batch(GPT, 8, part)))
        with torch.no_grad():
            each(batch(GPT, 9, part)[0])
        loss.backward(retain_graph=True)
        loss.backward()
    if originals:
        with FSDP.summon_full_params(model, with_grads=True):
            for one, two in zip(model.parameters(), alone.parameters()):
                torch.testing.assert_close(one.grad, two.grad, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(model.clip_grad_norm_(1e9), nn.utils.clip_grad_norm_(alone.parameters(), 1e9),
                               rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        model(batch(GPT, 7)[0])
        with FSDP.summon_full_params(model):
            model.words.weight.zero_()
        assert model(batch(GPT, 7)[0]).abs().max() == 0
    try:
        model.half()
        raise AssertionError("no error")
    except NotImplementedError as error:
        assert "before the module is wrapped" in str(error)
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
scaler = ShardedGradScaler("cpu", init_scale=4.0)
model = FSDP(nn.Linear(4, 3))
optimizer = torch.optim.SGD(model.parameters(), 1.0)
before = next(model.parameters()).detach().clone()
scaler.scale(model(torch.ones(1, 4)).sum()).backward()
if rank == 0:
    next(model.parameters()).grad[0] = float("inf")
scaler.step(optimizer)
scaler.update()
print(torch.equal(before, next(model.parameters())), scaler.get_scale())
'''
TRAINING = HEAD + '''
def show(model, optimizer, clips=None, kind=GPT, steps=3):
    told(*train(model, kind, optimizer, clips=clips, steps=steps), digits=3)
    state = model.state_dict()
    print(len(state), list(state)[:4])
    told(*[value.float().abs().sum() for value in state.values()], digits=2)
def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), 0.1, **options)
model = shard(make(), auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))
print(model)
print([(name, tuple(param.shape), isinstance(param, fsdp.FlatParameter)) for name, param in model.named_parameters()])
show(model, sgd(model, momentum=0.9), (0.1,))
show(model, sgd(model), (0.5, float("inf")))
with FSDP.summon_full_params(model):
    print([(name, tuple(param.shape)) for name, param in model.named_parameters()])
    with torch.no_grad():
        model.layers[0][1].first.weight.fill_(0.01)
with FSDP.summon_full_params(model, writeback=False):
    told(model.layers[0][1].first.weight.sum())
    with torch.no_grad():
        model.layers[0][1].first.weight.fill_(7.0)
with FSDP.summon_full_params(model):
    told(model.layers[0][1].first.weight.sum())
show(model, sgd(model))
model = shard(make(), auto_wrap_policy=BLOCKS[GPT], use_orig_params=True, sharding_strategy=ShardingStrategy.NO_SHARD)
print([(name, tuple(param.shape)) for name, param in model.named_parameters()][:5])
show(model, sgd(model), (0.1,))
model = shard(make(), auto_wrap_policy=BLOCKS[GPT])
optimizer = sgd(model)
for _ in range(2):
    optimizer.zero_grad()
    with model.no_sync():
        step_of(model, optimizer, GPT, 3, MINE)
    step_of(model, optimizer, GPT, 4, MINE)
    optimizer.step()
show(model, optimizer)
model = make()
model.layers[0] = shard(model.layers[0])  # the outermost is no wrapped one
optimizer = sgd(model.layers[0])
step_of(model, optimizer, GPT, 0, MINE)
optimizer.step()
print(list(model.state_dict())[:4], len(FSDP.fsdp_modules(model)), len(FSDP.fsdp_modules(model, root_only=True)))
print(model.layers[0].check_is_root(), model.layers[0].module is model.layers[0]._fsdp_wrapped_module)
'''
OPTIONS = HEAD + '''
def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), 0.1, **options)
low = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, buffer_dtype=torch.bfloat16)
seen = []
class Looks(Block):
    def forward(self, x):
        seen.append((x.dtype, self.first.weight.dtype))
        return super().forward(x)
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.block, self.last = nn.Linear(8, 8), nn.BatchNorm1d(8), Looks(), nn.Linear(8, 3)
        self.register_buffer("scale", torch.ones(1))
    def forward(self, x):
        return self.last(self.block(self.norm(self.first(x) * self.scale)))
torch.manual_seed(1)
model = shard(Normed(), mixed_precision=low, auto_wrap_policy=ModuleWrapPolicy({Looks}))
optimizer = sgd(model)
for step in range(2):
    optimizer.zero_grad()
    y = model(torch.randn(4, 8, generator=torch.Generator().manual_seed(rank)))
    print(y.dtype)
    y.float().square().mean().backward()
    print({param.dtype for param in model.parameters()}, {param.grad.dtype for param in model.parameters()})
    optimizer.step()
print(seen, model.scale.dtype)
told(*[value.float().sum() for name, value in model.state_dict().items() if "norm.running" not in name], digits=1)
ignored = shard(make(), ignored_states=[*make().parameters()])
model = make()
model = shard(model, ignored_modules=[model.layers[0]], cpu_offload=CPUOffload(offload_params=True))
print(sum(param.numel() for param in model.parameters()) < 2000, type(model.layers[0][0].qkv.weight).__name__)
said = CustomPolicy(lambda module: {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP}
                    if isinstance(module, Block) else isinstance(module, Attention))
model = shard(make(), auto_wrap_policy=said)
print([each.sharding_strategy.name for each in FSDP.fsdp_modules(model)])
with enable_wrap(wrapper_cls=FSDP, device_id=CPU, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP):
    print(wrap(nn.Linear(2, 2)).sharding_strategy, wrap(nn.Linear(2, 2), use_orig_params=True)._use_orig_params)
print(type(wrap(nn.Linear(2, 2))).__name__)
for implementation in CheckpointImpl:
    for order in (0, 1):
        model = make()
        if order:
            apply_activation_checkpointing(model, functools.partial(checkpoint_wrapper, checkpoint_impl=implementation),
                                           check_fn=lambda module: isinstance(module, (Block, Attention)))
            model = shard(model, auto_wrap_policy=BLOCKS[GPT])
        else:
            model = shard(model, auto_wrap_policy=BLOCKS[GPT])
            apply_activation_checkpointing(model, functools.partial(checkpoint_wrapper, checkpoint_impl=implementation),
                                           check_fn=lambda module: isinstance(module, FSDP))
        told(*train(model, GPT, sgd(model)), digits=3)
        print(list(model.state_dict())[:4])
def hook(state, gradient, part):
    state.append(tuple(gradient.shape))
    dist.reduce_scatter_tensor(part, gradient)
    part.zero_()
model, state = shard(nn.Linear(4, 3)), []
model.register_comm_hook(state, hook)
model(torch.ones(1, 4)).sum().backward()
print(state, [param.grad.sum().item() for param in model.parameters()])
optimizer = sgd(model, momentum=0.9)
model(torch.ones(1, 4)).sum().backward()
optimizer.step()
state = FSDP.full_optim_state_dict(model, optimizer)
print(list(state), [tuple(each["momentum_buffer"].shape) for each in state["state"].values()] if state else None)
print({key: value["momentum_buffer"].shape for key, value in FSDP.scatter_full_optim_state_dict(
    state if rank == 0 else None, model, optim=optimizer)["state"].items()})
frozen = nn.Linear(4, 3)
frozen.bias.requires_grad_(False)
for call in (lambda: shard(frozen), lambda: shard(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())),
             lambda: shard(nn.Linear(2, 2), ignored_modules=[3]),
             lambda: shard(nn.Linear(2, 2), sharding_strategy=ShardingStrategy.HYBRID_SHARD, process_group=3),
             lambda: shard(nn.Linear(2, 2), auto_wrap_policy=3),
             lambda: FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, fsdp.ShardedStateDictConfig()),
             lambda: FSDP.summon_full_params(model, rank0_only=True).__enter__()):
    try:
        call(); print("no error")
    except Exception as error:
        print(type(error).__name__)
model = shard(frozen, use_orig_params=True)
model(torch.ones(1, 4)).sum().backward()
print([(name, param.requires_grad, param.grad is None) for name, param in model.named_parameters() if param.numel()])
with torch.no_grad():
    told(model(torch.ones(1, 4)).shape[1], model.eval()(torch.zeros(1, 4)).shape[0])
'''


@pytest.mark.parametrize("size", [2, 4])
def test_every_strategy_equals_one_process(size):
    for printed in run_here(EQUAL, size):
        assert printed.splitlines() == ["<All keys matched successfully>"] * 20


def test_states_of_parts():
    printed = run_here(STATES, 2)
    for words in printed:
        lines = words.splitlines()
        assert lines[:5] == ["<All keys matched successfully>"] * 5
        assert "got LOCAL_STATE_DICT" in lines[5] and lines[6] == "True 2.0"


@pytest.mark.parametrize("program", [TRAINING, OPTIONS], ids=["training", "options"])
def test_programs_print_what_they_print_with_gloo(program):
    run_beside(program, 2)


CHECKPOINTS = '''
import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import *
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
folder = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(folder)
def make(kind):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 2))
    if kind == "plain":
        pass
    else:
        model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), use_orig_params=kind != "flat",
                     sharding_strategy=ShardingStrategy.NO_SHARD if kind == "copies" else ShardingStrategy.FULL_SHARD)
    return model, torch.optim.Adam(model.parameters(), 0.01, eps=1e-4)
def train(model, optimizer, first, count):
    found = []
    for step in range(first, first + count):
        x = torch.randn(4, 6, generator=torch.Generator().manual_seed(step))
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
model, optimizer = make("plain")
expected = train(model, optimizer, 0, 6)
PAIRS = (("own", "own"), ("own", "plain"), ("plain", "own"), ("flat", "own"), ("own", "flat"), ("copies", "own"),
         ("own", "copies"))
for number, (source, target) in enumerate(PAIRS):
    model, optimizer = make(source)
    found = train(model, optimizer, 0, 3)
    weights, state = get_state_dict(model, optimizer)
    names = sorted(name for name, _ in make("plain")[0].named_parameters())
    assert sorted(weights) == names == sorted(state["state"])
    dcp.save({"model": weights, "optimizer": state}, checkpoint_id=f"{folder[0]}/{number}")
    model, optimizer = make(target)
    with torch.no_grad():
        for param in model.parameters():
            param.zero_()
    weights, state = get_state_dict(model, optimizer)
    dcp.load({"model": weights, "optimizer": state}, checkpoint_id=f"{folder[0]}/{number}")
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=state)
    found += train(model, optimizer, 3, 1)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, state = get_state_dict(model, optimizer, options=options)
    assert len(weights) == len(state.get("state", ())) == (6 if rank == 0 else 0)
    model, optimizer = make(source)
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=state, options=options)
    found += train(model, optimizer, 4, 2)
    torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), rtol=1e-5, atol=1e-6)
'''


@pytest.mark.parametrize("size", [2, 3])
def test_states_by_names_go_from_any_wrapping_into_any_other(size):
    run_here(CHECKPOINTS, size)
