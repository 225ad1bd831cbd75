"""Operators of tensors on a mesh give what they give of the whole, and its gradients, however tensors are cut."""
import pytest
from harness.ranks import run_ranks

PROGRAM = '''
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
import random, warnings
from datetime import timedelta
import dragon.vm
dragon.vm.install()
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, randn
warnings.simplefilter("ignore")  # operators without a rule are told
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size,
                        timeout=timedelta(seconds=60))
meshes = [init_device_mesh("cpu", shape) for shape in ([(4,), (2, 2)] if size == 4 else [(2,), (1, 2)])]
R = random.Random(SEED)
def n(low=1, high=7):
    return R.randint(low, high)
def pick(*options):
    return R.choice(options)
def axis_of(call):
    axis = pick(0, 1)
    return lambda *xs: call(*xs, axis)
def square(a, b):
    return [(a, b), (a, b)]
CASES = {
    "add": lambda: (square(n(0), n()), lambda x, y: x + y),
    "repeated": lambda: ([(n(), b := n(), 3), (1, b, 1)], lambda x, y: x * y - y / 2),
    "rows": lambda: ([(n(), b := n()), (b,)], lambda x, y: x * y + y),
    "unary": lambda: ([(n(0), n())], lambda x: x.sin().exp().tanh() + x.sigmoid() * F.gelu(x) - F.silu(x).abs()),
    "mm": lambda: ([(n(0), b := n()), (b, n())], lambda x, y: x @ y),
    "chain": lambda: ([(n(), b := n()), (b, c := n()), (c, n())], lambda x, y, z: (x @ y) @ z),
    "bmm": lambda: ([(a := n(), n(), c := n()), (a, c, n())], lambda x, y: x @ y),
    "linear": lambda: ([(n(), n(), c := n()), (d := n(), c), (d,)], F.linear),
    "linear of rows": lambda: ([(n(), c := n()), (d := n(), c), (d,)], F.linear),
    "mv": lambda: ([(n(), c := n()), (c,)], lambda x, y: x @ y),
    "dot": lambda: ([(c := n(),), (c,)], lambda x, y: x @ y),
    "sum": lambda: ([(n(0), n(), n())], lambda x, a=pick(0, 1, 2, (0, 1), -1), k=pick(True, False): x.sum(a, k)),
    "mean": lambda: ([(n(), n(), n())], lambda x, a=pick(0, 1, 2, (0, 2), -1), k=pick(True, False): x.mean(a, k)),
    "all": lambda: ([(n(), n())], lambda x: x.sum() + x.mean() * (x * x).mean() + x.std()),
    "max": lambda: ([(n(), n())], axis_of(lambda x, a: x.max(a)[0] + x.amin(a))),
    "var": lambda: ([(n(2), n(2))], axis_of(lambda x, a: x.var(a) + x.logsumexp(a))),
    "moments": lambda: ([(n(2), n(2))], axis_of(lambda x, a: sum(torch.var_mean(x, a)) + torch.aminmax(x, dim=a)[1])),
    "softmax": lambda: ([(n(), n())], axis_of(lambda x, a: F.softmax(x, a) + F.log_softmax(x, a))),
    "view": lambda: ([(a := n(), b := n(), c := n())], lambda x, shape=pick(
        (a * b, c), (a, b * c), (a * b * c,), (1, a, b, c), (a, 1, b * c)): x.reshape(shape) * 2),
    "unflatten": lambda: ([((a := n()) * (b := n()), c := n())], lambda x: x.view(a, b, c) * 2),
    "there and back": lambda: ([(a := n(), b := n(), c := n())], lambda x: (x.flatten(0, 1) * 2).view(a, b, c) + x),
    "moved": lambda: ([(n(), n(), n())], lambda x: x.transpose(0, 2).permute(1, 0, 2).unsqueeze(1) * 2),
    "squeeze": lambda: ([(n(1, 2), 1, n(1, 2))], lambda x: x.squeeze() * 3),
    "cat": lambda: ([(n(), b := n()), (n(), b)], lambda x, y: torch.cat([x, y], 0)),
    "stack": lambda: (square(n(), n()), axis_of(lambda x, y, a: torch.stack([x, y], a))),
    "parts": lambda: ([(n(3), n(3))], axis_of(lambda x, a: x.chunk(2, a)[0] + x.split([1, x.shape[a] - 1], a)[0])),
    "slices": lambda: ([(n(2), n(2))], lambda x: x[1:, :-1] + x[0, 1:]),
    "expand": lambda: ([(1, n())], lambda x: x.expand(3, -1) * 2 + x.repeat(3, 1)),
    "layer_norm": lambda: ([(n(), n(), c := n(2)), (c,), (c,)], lambda x, w, b: F.layer_norm(x, (c,), w, b)),
    "rms_norm": lambda: ([(n(), n(), c := n(2)), (c,)], lambda x, w: F.rms_norm(x, (c,), w)),
    "attention": lambda: ([(n(), n(), n(), n())] * 3, lambda q, k, v: F.scaled_dot_product_attention(
        q, k, v, is_causal=True)),
    "conv": lambda: ([(n(), b := n(1, 3), 5, 5), (d := n(), b, 3, 3), (d,)], lambda *xs: F.conv2d(*xs, padding=1)),
    "pool": lambda: ([(n(), n(), 4, 4)], lambda x: F.max_pool2d(x, 2) + F.avg_pool2d(x, 2)),
    "edges": lambda: ([(n(), n(), n())], lambda x: F.pad(x, (1, 2)) [..., :1] + x.tril().sum() + x.flip(0)),
    "cumsum": lambda: ([(n(), n())], axis_of(lambda x, a: x.cumsum(a))),
    "einsum": lambda: ([(a := n(), n(), c := n()), (a, n(), c)], lambda x, y: torch.einsum("bij,bkj->bik", x, y)),
    "losses": lambda: (square(n(), n()), lambda x, y, r=pick("mean", "sum", "none"): F.mse_loss(
        x, y, reduction=r) + F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction=r)),
    "norm": lambda: ([(n(), n())], lambda x, p=pick(1, 2, 3): x.norm(p) + x.norm(dim=1).sum()),
    "where": lambda: (square(n(), n()), lambda x, y: torch.where(x > 0, x, y) + x.masked_fill(y > 0, 0.5)),
    "group_norm": lambda: ([(n(), 8, 3), (8,), (8,)], lambda x, w, b, g=pick(1, 2, 4, 8): F.group_norm(x, g, w, b)),
    "batch_norm": lambda: ([(n(2), c := n(), 3), (c,), (c,)], lambda x, w, b: F.batch_norm(x, None, None, w, b, True)),
    "known": lambda: ([(n(), c := n(), 2, 2), (c,), (c,), (c,), (c,)], lambda x, w, b, m, v: F.batch_norm(
        x, m.detach(), v.detach() ** 2 + 1, w, b) + m[:, None, None] + v[:, None, None]),
    "instance_norm": lambda: ([(n(), n(), 3)], F.instance_norm),
    "channels": lambda: ([(n(), 4, 5), (4, 4, 3), (4,)], lambda *xs: F.conv1d(*xs, padding=1)),
    "groups": lambda: ([(n(), 8, 5), (8, 2, 3), (8,)], lambda *xs: F.conv1d(*xs, groups=4)),
    "depthwise": lambda: ([(n(), 4, 5, 5), (8, 1, 3, 3)], lambda *xs: F.conv2d(*xs, groups=4)),
    "turned": lambda: ([(n(), 4, 5), (4, 2, 3)], lambda *xs: F.conv_transpose1d(*xs, groups=2)),
    "sort": lambda: ([(n(), n(), n())], lambda x, a=pick(0, 1, 2): x.sort(a)[0] * 2 + x.flip(a)),
    "topk": lambda: ([(n(2), n(2), n(2))], lambda x, a=pick(0, 1, 2), o=pick(True, False): x.topk(2, a, o)[0]),
    "middle": lambda: ([(n(), n(), n())], lambda x, a=pick(0, 1, 2), k=pick(True, False): x.median(
        a, k)[0] + x.kthvalue(1, a, k)[0]),
    "bags": lambda: ([(9, n())], lambda e, m=pick("sum", "mean", "max"): F.embedding_bag(distribute_tensor(
        torch.arange(12).reshape(3, 4) % 9, e.device_mesh) if isinstance(e, DTensor) else
        torch.arange(12).reshape(3, 4) % 9, e, mode=m)),
    "in place": lambda: ([(n(), n())], lambda x: (x * 1).add_(2).mul_(3).relu_()),
    "sums that remain": lambda: ([(n(), b := n()), (b, c := n()), (c,)],
                                 lambda x, w, v: ((x @ w) * 2 + (x @ w) - v).sum(0) / 3 + (x @ w).relu().mean(0)),
}
for name, make in CASES.items():
    for turn in range(TURNS):
        shapes, call = make()
        mesh, generator = R.choice(meshes), torch.Generator().manual_seed(R.randrange(1 << 30))
        whole = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
        placements = [[pick(Replicate(), *map(Shard, range(len(shape)))) for _ in mesh.shape] for shape in shapes]
        told = f"{name} {shapes} {mesh.shape} {placements}"
        wanted = call(*whole)
        weight = torch.randn(wanted.shape, generator=generator)
        grads = torch.autograd.grad((wanted * weight).sum(), whole)
        parts = [distribute_tensor(x.detach(), mesh, p).requires_grad_() for x, p in zip(whole, placements)]
        made = call(*parts)
        assert isinstance(made, DTensor) and made.shape == wanted.shape, told
        torch.testing.assert_close(made.full_tensor(), wanted, rtol=1e-4, atol=1e-5, msg=lambda text: told + text)
        found = torch.autograd.grad((made * distribute_tensor(weight, mesh, [Replicate()] * mesh.ndim)).sum(), parts)
        for grad, other in zip(found, grads):
            torch.testing.assert_close(grad.full_tensor(), other, rtol=1e-3, atol=1e-4, msg=lambda text: told + text)
'''
RANDOM = PROGRAM[:PROGRAM.index("CASES =")] + '''
for mesh in meshes:
    for placements in ([Shard(0)] * mesh.ndim, [Replicate()] * (mesh.ndim - 1) + [Shard(1)], [Replicate()] * mesh.ndim):
        torch.manual_seed(5)
        wanted = [torch.randn(5, 3), F.dropout(torch.ones(5, 3), 0.4), torch.empty(5, 3).uniform_(-1, 1),
                  torch.rand_like(torch.ones(5, 3)), torch.bernoulli(torch.full((5, 3), 0.5))]
        torch.manual_seed(5)
        x = randn(5, 3, device_mesh=mesh, placements=placements)
        one = distribute_tensor(torch.ones(5, 3), mesh, placements)
        found = [x, F.dropout(one, 0.4), one.clone().uniform_(-1, 1), torch.rand_like(one), torch.bernoulli(one * 0.5)]
        for made, other in zip(found, wanted):
            assert made.placements == tuple(placements)
            assert torch.equal(made.full_tensor(), other), (made, other)
x = distribute_tensor(torch.arange(6.0).reshape(2, 3), meshes[0], [Shard(0)] * meshes[0].ndim)
assert x.mean().item() == 2.5 and x.sum().item() == 15 and torch.equal(x, x.clone()) and not torch.equal(x, x + 1)
'''


STEPS = PROGRAM[:PROGRAM.index("CASES =")] + '''
from dragon.vm.torch.core.tensor import ops
for mesh in meshes:  # steps that need norms of whole parameters
    for placements in ([Shard(0)] * mesh.ndim, [Replicate()] * (mesh.ndim - 1) + [Shard(1)], [Replicate()] * mesh.ndim):
        generator = torch.Generator().manual_seed(3)
        whole = [[torch.randn(shape, generator=generator).abs() for shape in ((5, 3), (1, 4))] for _ in range(4)]
        parts = [[distribute_tensor(x.clone(), mesh, placements) for x in xs] for xs in whole]
        for params, grads, first, second in (whole, parts):
            for step in (1, 2):
                steps = [torch.tensor(float(step))] * 2
                ops.lamb_step(params, grads, first, second, steps, lr=0.1, beta1=0.9, beta2=0.99, eps=1e-6,
                              weight_decay=0.1, maximize=False)
        for one, two in zip(sum(whole, []), sum(parts, [])):
            torch.testing.assert_close(two.full_tensor(), one)
'''


@pytest.mark.parametrize("size, seed", [(2, 1), (4, 2)])
@pytest.mark.long("several processes compute every operator that has a rule")
def test_operators_give_what_they_give_of_the_whole(size, seed):
    run_ranks(PROGRAM.replace("SEED", str(seed)).replace("TURNS", "2"), size, "", seconds=300)


@pytest.mark.parametrize("size", [2, 4])
def test_random_numbers_are_those_of_one_process(size):
    run_ranks(RANDOM.replace("SEED", "0"), size, "", seconds=300)


def test_steps_that_need_norms_of_whole_parameters():
    run_ranks(STEPS.replace("SEED", "0"), 4, "")


OUT = PROGRAM[:PROGRAM.index("CASES = {")].replace("SEED", "0") + '''
x = distribute_tensor(torch.ones(4, 3), meshes[0], [Shard(0)])
for call in (torch.sum, torch.amax, torch.cumsum):
    try:
        call(x, 0, out=x.clone())
    except NotImplementedError as error:
        assert "got out= beside tensors on a mesh" in str(error)
    else:
        raise AssertionError(call)
'''


def test_results_are_not_written_into_tensors_on_a_mesh():
    run_ranks(OUT, 2, "")
