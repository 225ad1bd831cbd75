"""Several CUDA devices in one process: copies between them, operands that lie apart, copies of modules."""
from harness.device_ranks import alone


def test_tensors_move_between_devices():
    alone('''
    assert torch.cuda.device_count() == 2
    x = torch.arange(12.0, device="cuda:0").reshape(3, 4)
    y = x.to("cuda:1")
    assert str(y.device) == "cuda:1" and y.cpu().equal(x.cpu()) and x.cuda(1).device == y.device
    assert (y * 2 + 1).cpu().equal(x.cpu() * 2 + 1) and y.sum().item() == 66
    assert x.t().to("cuda:1").cpu().equal(x.cpu().t()) and x[:, 1].to(1).tolist() == [1.0, 5.0, 9.0]
    z = torch.empty(3, 4, device="cuda:1", dtype=torch.float16)
    assert z.copy_(x).cpu().float().equal(x.cpu()) and y.to("cuda:0").device.index == 0
    y[0] = x[1]
    assert y[0].tolist() == x[1].tolist()
    assert torch.zeros(0, device="cuda:0").to("cuda:1").shape == (0,)
    leaf = torch.ones(3, device="cuda:0", requires_grad=True)
    (leaf.to("cuda:1") * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0] * 3 and leaf.grad.device == leaf.device
    big = torch.randn(1 << 20, device="cuda:1")
    assert big.to("cuda:0").sum().item() == big.sum().item()
    ''')


def test_the_current_device_is_where_things_are_made():
    alone('''
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1 and torch.ones(2, device="cuda").get_device() == 1
        assert torch.rand(4, device="cuda").get_device() == 1
    assert torch.cuda.current_device() == 0
    a, b = torch.ones(4, device="cuda:0"), torch.ones(4, device="cuda:1")
    for _ in range(3):  # kernels of both devices in turns
        a, b = a + 1, b * 2
    assert a.tolist() == [4.0] * 4 and b.tolist() == [8.0] * 4
    assert torch.cuda.can_device_access_peer(0, 1) and not torch.cuda.can_device_access_peer(1, 1)
    before = torch.cuda.memory_allocated(1)
    held = torch.empty(1000, device="cuda:1")
    assert torch.cuda.memory_allocated(1) > before
    assert torch.cuda.get_device_properties(0).uuid != torch.cuda.get_device_properties(1).uuid
    refused(lambda: torch.ones(2, device="cuda:2"), "cuda:2", "2, the number of such devices")
    ''')


def test_devices_draw_from_streams_of_their_own():
    alone('''
    torch.manual_seed(3)
    first = torch.rand(5, device="cuda:0")
    torch.rand(7, device="cuda:0")
    assert torch.rand(5, device="cuda:1").tolist() == first.tolist()
    states = torch.cuda.get_rng_state_all()
    assert [int(state[8]) for state in states] == [8, 4]
    with torch.random.fork_rng():
        torch.rand(5, device="cuda:1")
    assert all(torch.equal(a, b) for a, b in zip(states, torch.cuda.get_rng_state_all()))
    with torch.cuda.device(1):
        torch.cuda.manual_seed(9)
        assert torch.cuda.initial_seed() == 9
    assert torch.cuda.initial_seed() == 3 and torch.Generator("cuda:1").device.index == 1
    ''')


def test_operands_on_two_devices_are_refused_with_both_named():
    alone('''
    a, b = torch.ones(2, 2, device="cuda:0"), torch.ones(2, 2, device="cuda:1")
    for call in (lambda: a + b, lambda: a @ b, lambda: torch.cat([a, b]), lambda: torch.where(a > 0, a, b)):
        refused(call, "cuda:0", "cuda:1", kind=RuntimeError)
    assert (a + torch.tensor(1.0)).tolist() == [[2.0, 2.0]] * 2
    ''')


def test_parts_and_sums_over_devices():
    """Beside genuine values: what `torch.cuda.comm` is documented to give."""
    alone('''
    from dragon.vm.torch.cuda import comm
    x = torch.arange(10.0, device="cuda:0").reshape(5, 2)
    parts = comm.scatter(x, [0, 1])
    assert [part.tolist() for part in parts] == [part.tolist() for part in x.cpu().chunk(2)]
    assert [part.get_device() for part in parts] == [0, 1]
    parts = comm.scatter(x, [0, 1], chunk_sizes=[1, 4])
    assert comm.gather(parts, destination=1).cpu().equal(x.cpu()) and comm.gather(parts, destination="cpu").is_cpu
    copies = comm.broadcast(x, [0, 1])
    assert copies[1].cpu().equal(x.cpu()) and comm.reduce_add(copies, 1).cpu().equal(2 * x.cpu())
    many = [torch.full((n,), float(n), device="cuda:0") for n in (1, 5, 1000)] + [torch.arange(4, device="cuda:0")]
    copied = comm.broadcast_coalesced(many, [0, 1], 64)
    assert all(a.cpu().equal(b.cpu()) and b.get_device() == 1 for a, b in zip(many, copied[1]))
    added = comm.reduce_add_coalesced(copied, 0, 64)
    assert all(a.cpu().equal(2 * b.cpu()) for a, b in zip(added, many))
    refused(lambda: comm.reduce_add([x, torch.ones(3, device="cuda:1")]), "invalid size")
    refused(lambda: comm.gather([x.cpu()]), "expects all inputs to be CUDA tensors")
    ''')


def test_a_batch_over_devices_is_as_on_one():
    alone('''
    from dragon.vm.torch import nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.randn(6, 4)
    wanted = model(x)
    wanted.pow(2).sum().backward()
    grads = [param.grad.clone() for param in model.parameters()]
    model.zero_grad()
    model.to("cuda:0")
    spread = nn.DataParallel(model)
    seen = []
    hook = model[0].register_forward_hook(lambda module, given, made: seen.append(made.get_device()))
    made = spread(x.to("cuda:0"))
    made.pow(2).sum().backward()
    assert sorted(seen) == [0, 1] and made.get_device() == 0
    assert torch.allclose(made.cpu(), wanted, atol=1e-5)
    for param, grad in zip(model.parameters(), grads):
        assert torch.allclose(param.grad.cpu(), grad, atol=1e-4)
    again = nn.parallel.data_parallel(model, x.to("cuda:0"), [0, 1], output_device=1)
    assert again.get_device() == 1 and torch.allclose(again.cpu(), wanted, atol=1e-5)
    ''')


def test_collectives_of_one_process():
    alone('''
    from dragon.vm.torch.cuda import nccl
    assert nccl.version() >= (2, 18, 0)
    xs = [torch.arange(6.0, device=f"cuda:{i}") + i for i in range(2)]
    assert nccl.is_available(xs) and not nccl.is_available([xs[0], xs[0]]) and not nccl.is_available([xs[0].cpu()])
    total = (xs[0].cpu() + xs[1].cpu()).tolist()
    outs = [torch.zeros(6, device=x.device) for x in xs]
    nccl.all_reduce(xs, outs)
    assert outs[0].tolist() == outs[1].tolist() == total
    nccl.all_reduce(xs, outs, op=2)
    assert outs[1].tolist() == xs[1].tolist()
    nccl.reduce(xs, outs[1], root=1)
    assert outs[1].tolist() == total
    wide = [torch.zeros(12, device=x.device) for x in xs]
    nccl.all_gather(xs, wide)
    assert wide[1].tolist() == xs[0].tolist() + xs[1].tolist()
    parts = [torch.zeros(3, device=x.device) for x in xs]
    nccl.reduce_scatter(xs, parts)
    assert parts[0].tolist() + parts[1].tolist() == total
    nccl.broadcast(xs, root=1)
    assert xs[0].tolist() == xs[1].tolist() == [1.0, 2, 3, 4, 5, 6]
    big = [torch.ones(300_000, device=f"cuda:{i}") for i in range(2)]
    nccl.all_reduce(big)
    assert big[1].sum().item() == 600_000
    refused(lambda: nccl.all_reduce([xs[0], xs[0]]), "unique devices")
    refused(lambda: nccl.all_reduce([xs[0], xs[1].half()]), "same Tensor dtype")
    refused(lambda: nccl.all_reduce([xs[0].cpu(), xs[1]]), "cuda dense Tensors")
    ''')
