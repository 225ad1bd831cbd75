"""Tensors on a mesh: programs print what they print with PyTorch and gloo."""
import pathlib
import runpy

import pytest
from harness.ranks import run_ranks

HEAD = runpy.run_path(str(pathlib.Path(__file__).with_name("test_programs.py")))["HEAD"] + """
import copy, io, warnings
import torch.nn.functional as F
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor, empty,
                                      full, ones, rand, randn, zeros)
warnings.simplefilter("ignore")
torch.manual_seed(0)
def told(call, width=60):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, str(error)[:width])
"""

MESHES = '''
m = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
print(m, m["dp"], m["tp"].mesh.tolist(), m["dp"].mesh.tolist(), m.get_coordinate(), m.get_local_rank("tp"))
print(m["dp", "tp"] is m, m.size(0), m.shape, m.ndim, m.size(), m["tp"] == m["tp"], hash(m["tp"]) == hash(m["tp"]))
print([dist.get_process_group_ranks(group) for group in m.get_all_groups()], m == copy.deepcopy(m))
flat = m._flatten("all")
print(flat, flat.mesh.tolist(), flat.get_local_rank(), m["all"].mesh.tolist(), flat is m._flatten("all"))
for call in (lambda: m["x"], lambda: m["tp", "dp"], lambda: init_device_mesh("cpu", (2,))["dp"],
             lambda: init_device_mesh("cpu", (8,)), lambda: distribute_tensor(torch.ones(4)),
             lambda: DeviceMesh.from_group([], "cpu")):
    told(call)
told(lambda: m._flatten("dp"), 0)
c = init_device_mesh("cpu", (2, 2, 1), mesh_dim_names=("dp", "cp", "tp"))
print(c["dp", "cp"]._flatten(), c["dp_cp", "tp"].mesh.tolist(), c["cp", "tp"].mesh.tolist())
half = DeviceMesh("cpu", [0, 1])
print(half, half.get_coordinate(), half.mesh.tolist())
print(DeviceMesh.from_group(dist.group.WORLD, "cpu").mesh.tolist())
u = init_device_mesh("cpu", (4,), mesh_dim_names=("world",))._unflatten(0, (2, 2), ("a", "b"))
print(u, u["b"].mesh.tolist(), u["a"].mesh.tolist())
with m:
    print(distribute_tensor(torch.ones(4, 4)).placements)
'''

PLACING = '''
m = init_device_mesh("cpu", (size,) if size != 4 else (2, 2))
more = [Replicate()] * (m.ndim - 1)
whole = torch.randn(8, 12)
for p in ([Shard(0)], [Shard(1)], [Shard(-1)], [Replicate()]):
    d = distribute_tensor(whole, m, p + more)
    print(p, d.placements, d.to_local().shape, d.shape, d.stride(), torch.equal(d.full_tensor(), whole))
    for q in ([Shard(0)], [Shard(1)], [Replicate()]):
        e = d.redistribute(m, more + q)
        print(q, e.to_local().shape, e.to_local().sum(), torch.equal(e.full_tensor(), whole))
local = torch.randn(3, 4, requires_grad=True)
for p in (Shard(0), Shard(1), Partial(), Replicate(), Partial("max"), Partial("avg")):
    d = DTensor.from_local(local, m, [p] + more)
    print(p, d.shape, d.stride(), d.requires_grad, d.is_leaf)
    local.grad = None
    (d.redistribute(placements=[Replicate()] + more).to_local() ** 2).sum().backward()
    print(local.grad.shape, local.grad.sum())
uneven = torch.ones(3 if rank == 0 else 2, 4) * rank
d = DTensor.from_local(torch.ones(2, 4) * rank, m, [Shard(0)] + more)
print(d.full_tensor().sum(), d)
for call in (lambda: d.redistribute(placements=[Partial()] + more), lambda: d.redistribute(),
             lambda: distribute_tensor(whole, m, [Shard(0)] * 5), lambda: d + torch.ones(4),
             lambda: DTensor.from_local(d, m), lambda: distribute_tensor((local * 2), m, [Shard(0)] + more),
             lambda: distribute_tensor(d, m, [Shard(1)] + more), lambda: repr(Shard(1)) + repr(Partial()),
             lambda: Shard(0) == Shard(0), lambda: Partial("max") == Partial(), lambda: Shard(1).is_shard(1),
             lambda: d.redistribute(placements=[Replicate()] + more, forward_dtype=torch.float64).dtype,
             lambda: zeros(4, 6, device_mesh=m, placements=[Shard(0)] + more).to_local().shape,
             lambda: full((5,), 2.5, device_mesh=m, placements=[Replicate()] + more).to_local(),
             lambda: ones((2, 4), device_mesh=m, dtype=torch.int32).dtype, lambda: empty(3, device_mesh=m).shape):
    told(call)
'''

TRAINING = '''
m = init_device_mesh("cpu", (size,))
layer = nn.Linear(4, 6)
for name, p in list(layer.named_parameters()):
    layer.register_parameter(name, nn.Parameter(distribute_tensor(p, m, [Shard(0)])))
again = copy.deepcopy(layer)
print(type(again.weight).__name__, isinstance(again.weight, nn.Parameter), again.weight.placements)
again.load_state_dict(layer.state_dict())
data = torch.randn(8, 4)
x = distribute_tensor(data, m, [Replicate()])
hits = []
layer.weight.register_hook(lambda grad: hits.append(type(grad).__name__))
layer.weight.register_post_accumulate_grad_hook(lambda p: hits.append(p.grad.placements))
for make in (lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9), lambda ps: torch.optim.AdamW(ps, 0.05),
             lambda ps: torch.optim.RMSprop(ps, 0.01), lambda ps: torch.optim.Adagrad(ps, 0.1)):
    optimizer = make(layer.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(layer.parameters(), 0.5)
        optimizer.step()
        print(f"{loss.full_tensor().item():.5f} {norm.full_tensor().item():.5f}", layer.weight.grad.placements)
    state = optimizer.state[layer.weight]
    print({key: type(value).__name__ for key, value in state.items() if value.ndim})
print(hits[:2], [f"{each:.4f}" for each in layer.weight.full_tensor().flatten()[:6].tolist()])
file = io.BytesIO()
torch.save(layer.state_dict(), file)
file.seek(0)
read = torch.load(file, weights_only=False)
print(read["weight"].placements, torch.equal(read["weight"].full_tensor(), layer.weight.full_tensor()))
with torch.no_grad():
    layer.weight.zero_(); layer.bias.fill_(2)
print(layer(x).full_tensor().sum(), layer.weight.to_local().shape, isinstance(layer.weight.to_local(), nn.Parameter))
def partition(name, module, mesh):
    for key, p in list(module.named_parameters(recurse=False)):
        module.register_parameter(key, nn.Parameter(distribute_tensor(p, mesh, [Shard(0)])))
net = distribute_module(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), m, partition,
                        lambda module, inputs, mesh: (distribute_tensor(inputs[0], mesh, [Replicate()]),),
                        lambda module, outputs, mesh: outputs.redistribute(mesh, [Replicate()]).to_local())
net(data).sum().backward()
print(net(data).shape, [round(p.grad.full_tensor().sum().item(), 4) for p in net.parameters()])
'''

PLACEMENTS = '''
m = init_device_mesh("cpu", (size,))
a, b = (distribute_tensor(torch.randn(8, 8), m, [Shard(axis)]) for axis in (0, 1))
r, v = distribute_tensor(torch.randn(8, 8), m, [Replicate()]), distribute_tensor(torch.randn(8), m, [Replicate()])
for call in (lambda: a + 1, lambda: a + r, lambda: a * v, lambda: a @ r, lambda: r @ b, lambda: b @ a, lambda: r @ r,
             lambda: a.sum(), lambda: a.sum(0), lambda: a.sum(1), lambda: a.mean(), lambda: a.max(), lambda: a.t(),
             lambda: a.view(8, 2, 4), lambda: a.view(64), lambda: a.unsqueeze(0), lambda: a[:, 1], lambda: a[0],
             lambda: F.softmax(a, 1), lambda: F.softmax(a, 0), lambda: torch.cat([a, a], 1),
             lambda: torch.stack([a, a]),
             lambda: (b @ a) * 2, lambda: (b @ a).relu(), lambda: a.transpose(0, 1), lambda: a.clone(),
             lambda: F.layer_norm(a, (8,), v, v), lambda: a.var(1), lambda: a.float(), lambda: a.bfloat16(),
             lambda: a.chunk(2, 1)[0], lambda: torch.zeros_like(a), lambda: a > 0, lambda: torch.where(a > 0, a, r),
             lambda: F.linear(a, r, v), lambda: F.linear(r, a), lambda: a.detach(), lambda: a.new_zeros(3),
             lambda: F.embedding(distribute_tensor(torch.arange(6), m, [Replicate()]), b)):
    x = call()
    print(x.placements, tuple(x.shape), x.dtype, f"{x.full_tensor().float().sum().item():.3f}")
'''

PARALLEL = '''
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
                                               loss_parallel, parallelize_module)
m = init_device_mesh("cpu", (size,))
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.size = width // heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width) for _ in range(4))
    def forward(self, x):
        q, k, v = (w(x).view(*x.shape[:2], -1, self.size).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.n1, self.attention, self.n2 = nn.LayerNorm(width), Attention(width, 4), nn.LayerNorm(width)
        self.w1, self.w2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.w2(F.gelu(self.w1(self.n2(x))))
class GPT(nn.Module):
    def __init__(self, words=32, length=8, width=16):
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers, self.norm = nn.ModuleList(Block(width) for _ in range(2)), nn.LayerNorm(width)
        self.out = nn.Linear(width, words, bias=False)
    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1])[None])
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x))
def train(model, cuts=False):
    optimizer, generator = torch.optim.AdamW(model.parameters(), 1e-2), torch.Generator().manual_seed(1)
    for _ in range(3):
        tokens = torch.randint(0, 32, (4, 9), generator=generator)
        optimizer.zero_grad()
        logits = model(tokens[:, :-1]).flatten(0, 1)
        with loss_parallel() if cuts else torch.enable_grad():
            loss = F.cross_entropy(logits, tokens[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        yield (loss.full_tensor() if isinstance(loss, DTensor) else loss).item()
def fresh():
    torch.manual_seed(3)
    return GPT()
wanted = list(train(fresh()))
def check(model, cuts=False):
    found = list(train(model, cuts))
    assert all(abs(one - other) < 1e-5 for one, other in zip(wanted, found)), (wanted, found)
    print([f"{loss:.4f}" for loss in found], {name: str(p.placements[0]) for name, p in model.named_parameters()
                                              if isinstance(p, DTensor)})
for cuts in (False, True):
    last = {"output_layouts": Shard(-1) if cuts else Replicate(), "use_local_output": not cuts}
    check(parallelize_module(fresh(), m, {
        "token": ColwiseParallel(output_layouts=Replicate()), "layers.*.attention.w[qkv]": ColwiseParallel(),
        "layers.*.attention.wo": RowwiseParallel(), "layers.*.w1": ColwiseParallel(), "layers.*.w2": RowwiseParallel(),
        "out": ColwiseParallel(**last)}), cuts)
    rows, columns = RowwiseParallel(output_layouts=Shard(1)), ColwiseParallel(input_layouts=Shard(1))
    model = parallelize_module(fresh(), m, {
        "token": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "norm": SequenceParallel(),
        "place": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "layers.*.n[12]": SequenceParallel(),
        "layers.*.attention": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "layers.*.attention.w[qkv]": ColwiseParallel(), "layers.*.attention.wo": rows, "layers.*.w1": columns,
        "layers.*.w2": rows, "out": ColwiseParallel(input_layouts=Shard(1), **last)})
    check(model, cuts)
told(lambda: parallelize_module(nn.ReLU(), m, ColwiseParallel()))
told(lambda: parallelize_module(nn.Linear(2, 2), init_device_mesh("cpu", (size, 1)), ColwiseParallel()), 0)
told(lambda: parallelize_module(nn.Linear(2, 2), m, [ColwiseParallel()]))
'''

FUNCTIONAL = '''
import torch.distributed._functional_collectives as funcol
from torch.distributed.tensor.experimental import implicit_replication, local_map
m = init_device_mesh("cpu", (size,))
x = torch.arange(float(4 * size)).reshape(2, -1) + rank
def wait(y):
    return funcol.wait_tensor(y).tolist()
for group in (dist.group.WORLD, m, (m, 0), list(range(size))):
    print(wait(funcol.all_reduce(x, "sum", group)))
print(wait(funcol.all_reduce(x, "max", m)))
print(wait(funcol.all_gather_tensor(x, 0, m)), wait(funcol.all_gather_tensor(x, 1, m)))
print(wait(funcol.reduce_scatter_tensor(x, "sum", 1, m)), wait(funcol.broadcast(x, 1, m)))
print(wait(funcol.all_to_all_single(x.flatten(), None, None, m)))
print([wait(y) for y in funcol.all_reduce_coalesced([x, x[0]], "sum", m)])
d = distribute_tensor(torch.arange(8.0), m, [Shard(0)])
with implicit_replication():
    print((d + torch.ones(8)).full_tensor())
double = local_map(lambda part, n: part * n, out_placements=[Shard(0)], in_placements=([Shard(0)], None), device_mesh=m)
print(double(d, 2).full_tensor())
told(lambda: double(d.redistribute(placements=[Replicate()]), 2))
told(lambda: funcol.all_reduce(x, "sum", 3), 0)
'''

PROGRAMS = {"meshes": MESHES, "placing": PLACING, "training": TRAINING, "placements": PLACEMENTS, "parallel": PARALLEL,
            "functional": FUNCTIONAL}


@pytest.mark.parametrize("name, size", [("meshes", 4), ("placing", 2), ("placing", 4), ("training", 2),
                                        ("placements", 2), ("parallel", 2), ("functional", 2)])
@pytest.mark.long("processes of PyTorch and of Dragon run each program")
def test_programs_print_what_they_print_with_gloo(name, size):
    # Rank 0, which keeps PyTorch's store, does not leave before the others have all that they ask for there.
    code = PROGRAMS[name] + "\ndist.barrier()\n"
    ours, theirs = (run_ranks(code, size, HEAD.format(ours=ours)) for ours in (True, False))
    for rank in range(size):
        assert ours[rank] == theirs[rank]
