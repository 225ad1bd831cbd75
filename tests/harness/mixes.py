"""Programs that train a small GPT by mixes of data, tensor and pipeline parallelism, with Dragon and with gloo."""
GPT = '''
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module)
from torch.nn.parallel import DistributedDataParallel
functional = nn.functional

WORDS, WIDTH, HEADS, LENGTH, ROWS = 32, 16, 4, 8, 8

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
    def forward(self, x):
        heads = [each(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for each in
                 (self.query, self.key, self.value)]
        y = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))
class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
    def forward(self, x):
        return self.second(functional.gelu(self.first(x)))
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.between, self.perceptron = nn.LayerNorm(WIDTH), Perceptron()
    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.perceptron(self.between(x))
class GPT(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
    def forward(self, x):
        if self.words is not None:
            x = self.words(x) + self.places(torch.arange(LENGTH))
        for layer in self.layers:
            x = layer(x)
        return x if self.head is None else self.head(self.norm(x))

def make():
    model = GPT()
    with torch.no_grad():  # the same numbers in both frameworks
        for number, param in enumerate(model.parameters()):
            if param.dim() == 2:
                places = torch.arange(float(param.numel())).reshape(param.shape)
                param.copy_(torch.sin(places * (number + 3)) / param.shape[-1] ** 0.5)
            else:
                param.copy_(1.0 + torch.sin(torch.arange(float(param.numel())) + number) / 8)
    return model
def batch(step):
    x = (torch.arange(ROWS * LENGTH).reshape(ROWS, LENGTH) * (step + 5) + step) % 31 % WORDS
    return x, x.roll(-1, 1)
def loss_of(logits, target):
    return functional.cross_entropy(logits.flatten(0, 1), target.flatten())
BLOCK = {"attention.query": ColwiseParallel(), "attention.key": ColwiseParallel(), "attention.value": ColwiseParallel(),
         "attention.out": RowwiseParallel(), "perceptron.first": ColwiseParallel(),
         "perceptron.second": RowwiseParallel()}
def cut(model, mesh):
    """Share the products of all blocks out."""
    for layer in model.layers:
        parallelize_module(layer, mesh, dict(BLOCK))
    return model
def cut_all(model, mesh):
    """Share all of it out, norms by the sequence."""
    parallelize_module(model, mesh, {
        "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "places": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())})
    for layer in model.layers:
        parallelize_module(layer, mesh, {
            "before": SequenceParallel(), "between": SequenceParallel(),
            "attention": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
            "perceptron": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
            **BLOCK, "attention.out": RowwiseParallel(output_layouts=Shard(1)),
            "perceptron.second": RowwiseParallel(output_layouts=Shard(1))})
    return model
def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x
def train(model, optimizer, steps=4, first=0, rows=slice(None), group=None, bound=1.0, compute=None):
    """Return losses and norms of gradients."""
    found = []
    for step in range(first, first + steps):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = loss_of(model(x[rows]), y[rows])
        loss.backward()
        norm = whole(nn.utils.clip_grad_norm_(model.parameters(), bound))
        optimizer.step()
        loss = loss.detach().clone()
        if group is not None:
            dist.all_reduce(loss, group=group)
            loss /= dist.get_world_size(group)
        found += [loss.item(), norm.item()]
    return found
def alone(kind=torch.optim.AdamW, steps=4, first=0, **options):
    model = make()
    return model, train(model, kind(model.parameters(), **options), steps, first)
def near(found, expected, bound=1e-5):
    assert len(found) == len(expected)
    for one, two in zip(found, expected):
        assert abs(one - two) < bound * max(1.0, abs(two)), (found, expected)
OPTIONS = dict(lr=0.01, eps=1e-4)
'''

SPREAD = GPT + '''
def on_mesh(sizes=(2, 2), names=("data", "tensor")):
    mesh = init_device_mesh("cpu", sizes, mesh_dim_names=names)
    parts, place = mesh["data"].size(), mesh["data"].get_local_rank()
    return mesh, slice(place * ROWS // parts, (place + 1) * ROWS // parts), mesh["data"].get_group()
def spread(way, mesh, data=("data",), **options):
    model = way(make(), mesh["tensor"])
    for layer in model.layers:
        fully_shard(layer, mesh=mesh[data], **options)
    return fully_shard(model, mesh=mesh[data], **options)
def compare(model, plain):
    for one, two in zip(model.parameters(), plain.parameters()):
        torch.testing.assert_close(whole(one).detach(), two.detach(), rtol=1e-4, atol=1e-4)
'''
DATA_AND_TENSORS = SPREAD + '''
mesh, rows, group = on_mesh()
plain, expected = alone(**OPTIONS)
for options in ({}, dict(reshard_after_forward=False), dict(shard_placement_fn=lambda p: Shard(p.dim() - 1))):
    model = spread(cut_all, mesh, **options)
    found = train(model, torch.optim.AdamW(model.parameters(), **OPTIONS), rows=rows, group=group)
    near(found, expected)
    compare(model, plain)
    weight = model.layers[0].attention.query.weight
    told(*found, str(weight.placements), str(tuple(weight.to_local().shape)), str(weight.device_mesh.mesh_dim_names),
         str(model.layers[0].attention.out.weight.placements), str(model.norm.weight.placements))
'''
OTHER_MESHES = SPREAD + '''
mesh, rows, group = on_mesh()
model = cut(make(), mesh["tensor"])  # some parameters are on one mesh, others on another
for layer in model.layers:
    fully_shard(layer, mesh=mesh["data"])
optimizer = torch.optim.SGD(model.layers.parameters(), 0.1, momentum=0.9)
found = []
for step in range(3):
    x, y = batch(step)
    optimizer.zero_grad()
    loss_of(model(x[rows]), y[rows]).backward()
    optimizer.step()
    found += [whole(param).detach().sum() for param in model.layers.parameters()]
told(*found, digits=3)
model = spread(cut_all, mesh, mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
weight = model.layers[0].attention.query.weight
x, y = batch(0)
with torch.no_grad():
    model.unshard()
    told(str(type(weight).__name__), str(model.head.weight.dtype), str(model.head.weight.placements),
         str(tuple(model.head.weight.shape)), str(tuple(model.head.weight.to_local().shape)))
    model.reshard()
told(str(model.head.weight.dtype), str(model.head.weight.placements))
uneven = nn.Linear(3, 7, bias=False)
parallelize_module(uneven, mesh["tensor"], ColwiseParallel())
fully_shard(uneven, mesh=mesh["data"])
told(str(uneven.weight.placements), str(tuple(uneven.weight.to_local().shape)))
def refused(call):
    try:
        call()
        return "taken"
    except (RuntimeError, ValueError, NotImplementedError, AssertionError, TypeError):
        return "refused"
other = init_device_mesh("cpu", (size,))
linear = parallelize_module(nn.Linear(4, 4), other, ColwiseParallel())
told(refused(lambda: fully_shard(linear, mesh=mesh["data"])))
linear = parallelize_module(nn.Linear(4, 4), mesh["tensor"], ColwiseParallel())
told(refused(lambda: fully_shard(linear, mesh=mesh["tensor"])))
'''
MIXED_MESHES = SPREAD + '''
mesh, rows, group = on_mesh()
plain, expected = alone(**OPTIONS)
# Norms of gradients that are on several meshes; processes of three axes.
for sizes, names, data in (((2, 2), ("data", "tensor"), ("data",)),
                           ((1, 2, 2), ("copies", "data", "tensor"), ("copies", "data")),
                           ((2, 1, 2), ("data", "parts", "tensor"), ("data", "parts"))):
    three, rows, group = on_mesh(sizes, names)
    model = spread(WAY, three, data)
    found = train(model, torch.optim.AdamW(model.parameters(), **OPTIONS), rows=rows, group=group)
    near(found, expected)
    compare(model, plain)
'''
ACCUMULATED = SPREAD + '''
mesh, rows, group = on_mesh()
halves = (slice(rows.start, rows.start + 2), slice(rows.start + 2, rows.stop))
model, optimizer, found = spread(cut_all, mesh), None, []
optimizer = torch.optim.AdamW(model.parameters(), **OPTIONS)
for step in range(3):  # gradients that add up as wholes
    x, y = batch(step)
    optimizer.zero_grad()
    for number, half in enumerate(halves):
        model.set_requires_gradient_sync(number == 1)
        (loss_of(model(x[half]), y[half]) / 2).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
plain = make()
train(plain, torch.optim.AdamW(plain.parameters(), **OPTIONS), 3)
compare(model, plain)
'''
COPIES = SPREAD + '''
from torch.distributed.tensor.parallel.ddp import _pre_dp_module_transform
mesh, rows, group = on_mesh()
plain = make()
expected = train(plain, torch.optim.SGD(plain.parameters(), lr=0.05), bound=1e9)[::2]
for given in (dict(device_mesh=mesh["data"]), dict(process_group=group)):
    model = cut(make(), mesh["tensor"])
    names = [name for name, _ in model.named_parameters()]
    if "process_group" in given:
        _pre_dp_module_transform(model)
    model = DistributedDataParallel(model, **given)
    params = list(model.parameters())
    optimizer, found = torch.optim.SGD(params, lr=0.05), []
    for step in range(4):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = loss_of(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss, group=group)
        found.append(loss.item() / 2)
    near(found, expected)
    told(*found)
    told(str([tuple(param.shape) for param in params]))
    if "dragon" in sys.modules:  # PyTorch's module lists no parameters on the mesh from then on
        assert [name.removeprefix("module.") for name, _ in model.named_parameters()] == names
        assert not any(isinstance(param, DTensor) for param in model.parameters())
def refused(**given):
    try:
        DistributedDataParallel(nn.Linear(2, 2), **given)
    except RuntimeError as error:
        return str(error).split(": ")[-1]
told(refused(device_mesh=mesh["data"], process_group=group), str("Only 1D" in refused(device_mesh=mesh)))
'''
PAIRS = (("both", "data"), ("data", "both"), ("both", "tensors"), ("tensors", "both"), ("both", "both"))
STATES = SPREAD + '''
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
import tempfile
folder = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(folder)
folder = folder[0]
mesh, rows, group = on_mesh()
_, expected = alone(steps=5, **OPTIONS)
def fresh(kind):
    if kind == "both":
        model = spread(cut_all, mesh)
        return model, torch.optim.AdamW(model.parameters(), **OPTIONS), dict(rows=rows, group=group)
    if kind == "tensors":
        model = cut_all(make(), init_device_mesh("cpu", (size,)))
        return model, torch.optim.AdamW(model.parameters(), **OPTIONS), {}
    line, mine, everyone = on_mesh((size, 1))
    model = make()
    for layer in model.layers:
        fully_shard(layer, mesh=line["data"])
    fully_shard(model, mesh=line["data"])
    return model, torch.optim.AdamW(model.parameters(), **OPTIONS), dict(rows=mine, group=everyone)
source, target = PAIR
model, optimizer, where = fresh(source)
found = train(model, optimizer, 3, **where)
weights, state = get_state_dict(model, optimizer)
dcp.save({"model": weights, "optimizer": state}, checkpoint_id=f"{folder}/saved")
model, optimizer, where = fresh(target)
with torch.no_grad():
    for param in model.parameters():
        param.zero_()
weights, state = get_state_dict(model, optimizer)
dcp.load({"model": weights, "optimizer": state}, checkpoint_id=f"{folder}/saved")
set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=state)
found += train(model, optimizer, 2, 3, **where)
near(found, expected)
told(*found)
options = StateDictOptions(full_state_dict=True, cpu_offload=True)
weights, state = get_state_dict(model, optimizer, options=options)  # whole, in the first process
told(sorted(weights)[:3] if rank == 0 else len(weights))
if rank == 0:
    plain = make()
    plain.load_state_dict(weights)
    told(*[value.float().sum() for value in weights.values()], digits=2)
again, other, where = fresh(target)
options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
set_state_dict(again, other, model_state_dict=weights, optim_state_dict=state, options=options)
near(train(again, other, 1, 5, **where), train(model, optimizer, 1, 5, **where))
'''
PIPELINES = GPT + '''
WRAPS = ("fully_shard", "ddp") if "dragon" in sys.modules else ("fully_shard",)  # PyTorch's DDP has a fault there
def halves(model, number):
    if number == 0:
        model.norm = model.head = None
        model.layers = model.layers[:1]
    else:
        model.words = model.places = None
        model.layers = model.layers[1:]
    return model
second = SECOND
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("stage", second))
number, place = mesh["stage"].get_local_rank(), mesh[second].get_local_rank()
for kind in (ScheduleGPipe, Schedule1F1B):
    for wrap in (("cut",) if second == "tensor" else WRAPS):
        alone_model = make()
        alone_optimizer = torch.optim.AdamW(alone_model.parameters(), **OPTIONS)
        stage_model = halves(make(), number)
        rows = slice(None)
        if wrap == "cut":
            stage_model = cut(stage_model, mesh["tensor"])
        else:
            rows = slice(place * ROWS // 2, (place + 1) * ROWS // 2)
            stage_model = fully_shard(stage_model, mesh=mesh["data"]) if wrap == "fully_shard" else \
                DistributedDataParallel(stage_model, process_group=mesh["data"].get_group())
        stage = PipelineStage(stage_model, number, 2, torch.device("cpu"), group=mesh["stage"].get_group())
        schedule = kind(stage, 2, loss_fn=loss_of)
        optimizer = torch.optim.AdamW(stage_model.parameters(), **OPTIONS)
        shown = []
        for step in range(3):
            x, y = batch(step)
            optimizer.zero_grad()
            losses = []
            if number == 0:
                schedule.step(x[rows])
            else:
                schedule.step(target=y[rows], losses=losses)
            optimizer.step()
            expected = train(alone_model, alone_optimizer, 1, step, bound=1e9)[0]
            if number == 1:
                loss = sum(losses).detach() / len(losses)
                if second == "data":
                    dist.all_reduce(loss, group=mesh["data"].get_group())
                    loss /= 2
                near([loss.item()], [expected])
                shown.append(loss.item())
        if wrap != "ddp":
            told(kind.__name__, wrap, *shown)
        inner = stage_model.module if wrap == "ddp" else stage_model
        for one, two in zip(inner.layers[0].parameters(), alone_model.layers[number].parameters()):
            torch.testing.assert_close(whole(one).detach(), two.detach(), rtol=1e-4, atol=1e-4)
'''
