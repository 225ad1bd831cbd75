"""Modules that were fully sharded train as they do in one process, and as PyTorch's do with gloo."""
import pytest
from harness.worlds import run_beside, run_here

HEAD = '''
import copy
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, fully_shard, register_fsdp_forward_method)
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.norm, self.first = nn.LayerNorm(width), nn.Linear(width, 9)
        self.second = nn.Linear(9, width, bias=False)
        self.checkpoints = False
    def forward(self, x):
        if self.checkpoints and torch.is_grad_enabled():
            return checkpoint(self.compute, x, use_reentrant=False)
        return self.compute(x)
    def compute(self, x):
        return x + self.second(torch.nn.functional.gelu(self.first(self.norm(x))))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layers = nn.Embedding(7, 6), nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(6, 7, bias=False)
        self.head.weight = self.words.weight
        self.spare = nn.Linear(3, 1)
    def forward(self, x):
        y = self.words(x)
        for layer in self.layers:
            y = layer(y)
        return self.head(y)
    def count(self, x):
        return self(x).argmax(-1).numel()
def make(**options):
    torch.manual_seed(1)
    model = Model()
    if options is not None:
        for layer in model.layers:
            fully_shard(layer, **options)
        fully_shard(model, **options)
    return model
def step(model, number, part=slice(2 * rank, 2 * rank + 2)):
    x = torch.randint(0, 7, (2 * size, 5), generator=torch.Generator().manual_seed(number))[part]
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1).float(), x.roll(1, 1).flatten())
    loss.backward()
    return loss.detach()
def train(model, optimizer, steps=3, part=slice(2 * rank, 2 * rank + 2), first=0):
    losses = []
    for number in range(first, first + steps):
        optimizer.zero_grad()
        loss = step(model, number, part)
        if part != slice(None):
            dist.all_reduce(loss)
            loss /= size
        norm = nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 0.5)
        optimizer.step()
        losses += [loss.item(), (norm.full_tensor() if isinstance(norm, DTensor) else norm).item()]
    return losses
MESH = init_device_mesh("cpu", (size,))
'''
EQUAL = HEAD + '''
torch.manual_seed(1)
whole = Model()
optimizer = torch.optim.AdamW(whole.parameters(), 0.01, eps=1e-3)
expected = torch.tensor(train(whole, optimizer, part=slice(None)))
for model, factor in ((make(), 2.0 * size), (make(), float(size))):
    model.set_gradient_divide_factor(factor)
    for layer in model.layers:
        layer.set_gradient_divide_factor(factor)
    step(model, 0)
    factor = factor / size
    plain = Model()
    plain.load_state_dict({name: value.full_tensor() for name, value in model.state_dict().items()})
    step(plain, 0, slice(None))
    for one, two in zip(model.parameters(), plain.parameters()):
        if two.grad is not None:
            torch.testing.assert_close(one.grad.full_tensor() * factor, two.grad, rtol=1e-4, atol=1e-6)
options = [{}, {"reshard_after_forward": True}, {"reshard_after_forward": False}, {"mesh": MESH},
           {"reshard_after_forward": size}, {"reshard_after_forward": 1}, {"offload_policy": CPUOffloadPolicy()},
           {"mesh": init_device_mesh("cpu", (2, size // 2))}, {"mesh": init_device_mesh("cpu", (1, size))},
           {"shard_placement_fn": lambda param: Shard(param.dim() - 1)}]
for each in options:
    model = make(**each)
    mine = torch.optim.AdamW(model.parameters(), 0.01, eps=1e-3)
    for layer in model.layers:
        layer.checkpoints = len(each) == 0
    torch.testing.assert_close(torch.tensor(train(model, mine)), expected, rtol=1e-5, atol=1e-5)
    for one, two in zip(model.parameters(), whole.parameters()):
        assert isinstance(one, DTensor) and one.shape == two.shape
        torch.testing.assert_close(one.full_tensor().detach(), two.detach(), rtol=1e-4, atol=1e-5)
    again = make(**each)
    again.load_state_dict(model.state_dict())
    other = torch.optim.AdamW(again.parameters(), 0.01, eps=1e-3)
    other.load_state_dict(copy.deepcopy(mine.state_dict()))
    torch.testing.assert_close(torch.tensor(train(again, other, 2, first=3)),
                               torch.tensor(train(model, mine, 2, first=3)))
'''
CORNERS = HEAD + '''
with torch.device("meta"):  # parameters get their memory once they are cut
    model = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3))
for layer in model:
    fully_shard(layer)
fully_shard(model)
model.to_empty(device="cpu")
for layer in model:
    layer.reset_parameters()
model(torch.ones(2, 4)).sum().backward()
assert model[0].weight.grad.full_tensor().shape == (5, 4) and not model[0].weight.to_local().is_meta
sharded, plain = make(), Model()
plain.load_state_dict({name: value.full_tensor() for name, value in sharded.state_dict().items()})
for each in (sharded, plain):  # several forward passes before one backward pass, and others beside it
    x = torch.zeros(1, 3, dtype=torch.long)
    loss = each(x).sum() + each(x + 1).square().sum()
    with torch.no_grad():
        each(x)
    loss.backward(retain_graph=True)
    loss.backward()
for one, two in zip(sharded.parameters(), plain.parameters()):
    if two.grad is not None:
        torch.testing.assert_close(one.grad.full_tensor(), two.grad, rtol=1e-4, atol=1e-5)
model = fully_shard(nn.Linear(4, 5))
model(torch.ones(1, 4)).sum().backward()
model.zero_grad()
model.to(torch.bfloat16)  # converted once it was used
y = model(torch.ones(2, 4, dtype=torch.bfloat16))
y.sum().backward()
assert {y.dtype, model.weight.dtype, model.weight.grad.dtype} == {torch.bfloat16}
one, two = fully_shard(nn.Linear(4, 5)), fully_shard(nn.Linear(4, 5))
two.load_state_dict(one.state_dict(), assign=True)
two(torch.ones(1, 4)).sum().backward()
assert torch.equal(two.weight.full_tensor(), one.weight.full_tensor()) and isinstance(two.weight.grad, DTensor)
model = fully_shard(nn.Linear(4, 5)).requires_grad_(False)
model(torch.ones(1, 4))
model.requires_grad_(True)
optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cpu", init_scale=8.0)
scaler.scale(model(torch.ones(1, 4)).sum()).backward()
assert model.weight.grad.full_tensor().eq(8).all()
scaler.unscale_(optimizer)
assert model.weight.grad.full_tensor().eq(1).all()
'''
PROGRAM = HEAD + '''
def show(model, *others, digits=3):
    told(*others, digits=digits)
    told(*[param.detach().full_tensor().float().abs().sum() for param in model.parameters()], digits=digits)
def sgd(model):
    return torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
model = make(mesh=MESH)
print(model)
print([(name, tuple(param.shape), tuple(param.to_local().shape), param.placements)
       for name, param in model.named_parameters()])
print(isinstance(model, FSDPModule), isinstance(model, Model), type(model.layers[0]).__name__)
show(model, *train(model, sgd(model)))
print([param.grad is None for param in model.spare.parameters()], type(model.words.weight.grad).__name__)
print({name: type(value).__name__ for name, value in model.state_dict().items()}["layers.0.first.weight"])
model.unshard()
print([type(param).__name__ for param in model.parameters()])
model.reshard()
handle = model.layers[1].unshard(async_op=True)
handle.wait()
print(type(model.layers[1].first.weight).__name__, tuple(model.layers[1].first.weight.shape))
model.layers[1].reshard()
optimizer = sgd(model)
for last in (False, True):  # gradients add up
    model.set_requires_gradient_sync(last)
    model.set_is_last_backward(last)
    step(model, int(last))
optimizer.step()
show(model)
model.set_reshard_after_backward(False)
step(model, 3)
model.set_reshard_after_backward(True)
print(type(model.layers[0].first.weight).__name__)
model.layers[0].reshard(), model.layers[1].reshard(), model.reshard()
model = make(mesh=MESH)
model.set_modules_to_forward_prefetch([model.layers[0]])
model.layers[1].set_modules_to_backward_prefetch([model.layers[0]])
seen = []
model.set_all_reduce_hook(lambda part: seen.append(part.numel()))
show(model, *train(model, sgd(model)))
print(len(seen))
register_fsdp_forward_method(model, "count")
with torch.no_grad():
    print(model.count(torch.zeros(2, 3, dtype=torch.long)))
torch.manual_seed(1)
low, halves = Model(), {"param_dtype": torch.bfloat16, "reduce_dtype": torch.float32}
for layer in low.layers:
    fully_shard(layer, mesh=MESH, mp_policy=MixedPrecisionPolicy(**halves))
fully_shard(low, mesh=MESH, mp_policy=MixedPrecisionPolicy(**halves, output_dtype=torch.float32))
print(low(torch.zeros(1, 2, dtype=torch.long)).dtype)
train(low, sgd(low), 2)
print({param.dtype for param in low.parameters()}, {p.grad.dtype for p in low.parameters() if p.grad is not None})
pair = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
fully_shard([pair[0], pair[1]], mesh=MESH)
fully_shard(pair, mesh=MESH)
pair(torch.ones(2, 3)).sum().backward()
told(*[param.grad.full_tensor() for param in pair.parameters()][-1:])
frozen = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
frozen[0].weight.requires_grad_(False)
fully_shard(frozen, mesh=MESH)
frozen(torch.ones(2, 3)).sum().backward()
print([param.grad is None for param in frozen.parameters()])
odd = fully_shard(nn.Linear(3, 1), mesh=MESH)  # some processes have nothing
odd(torch.ones(2, 3)).sum().backward()
print(tuple(odd.weight.to_local().shape), odd.weight.grad.full_tensor().tolist())
class Scalar(nn.Module):
    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.ones(()))
for call in (lambda: fully_shard(nn.ModuleList([nn.Linear(2, 2)])), lambda: fully_shard(odd, mesh=MESH),
             lambda: fully_shard(Scalar(), mesh=MESH), lambda: copy.deepcopy(model),
             lambda: fully_shard(nn.Linear(2, 2), mesh=MESH, reshard_after_forward=5),
             lambda: model.set_modules_to_forward_prefetch([nn.Linear(2, 2)]),
             lambda: model.set_reshard_after_forward(3), lambda: register_fsdp_forward_method(model, "no_such")):
    try:
        call(); print("no error")
    except Exception as error:
        print(type(error).__name__)
print(type(type(model.layers)(model.layers)).__name__, type(type(model.layers[0])()).__name__)
'''


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.long("several processes train, with as many processors as there are")
def test_equal_to_one_process(size):
    run_here(EQUAL, size)


def test_corners():
    run_here(CORNERS, 2)


def test_a_program_prints_what_it_prints_with_gloo():
    run_beside(PROGRAM, 2)
