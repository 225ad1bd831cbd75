"""Whole recurrent networks by the vendor's library, beside genuine PyTorch on the CPU and our own layers."""
import os
import threading

import numpy
import pytest

import dragon
from dragon.vm import torch as dt

KINDS = {"LSTM": {}, "GRU": {}, "RNN tanh": {}, "RNN relu": {"nonlinearity": "relu"}}
# Steps, batch, size of the input, units, layers, both directions.
SIZES = [
    pytest.param((5, 3, 4, 6, 1, False), id="one layer"),
    pytest.param((4, 2, 3, 5, 2, True), id="two layers, both directions"),
    pytest.param((3, 2, 7, 2, 3, False), id="three layers"),
    pytest.param((1, 3, 4, 3, 2, True), id="one step"),
    pytest.param((6, 1, 3, 4, 2, True), id="one sequence"),
    pytest.param((4, 2, 3, 1, 2, True), id="one unit"),
    pytest.param((1, 1, 1, 1, 1, False), id="one of everything"),
]
TOLERANCE = {"float32": 1e-5, "float16": 6e-3, "bfloat16": 5e-2}


@pytest.fixture
def taken(simt, monkeypatch):
    """Return a function that tells how many calls the library has computed since it was last asked."""
    if simt:
        monkeypatch.setenv("DRAGON_SIMT_DNN", "1")
    elif os.environ.get("DRAGON_CUDNN") == "0":
        pytest.skip("DRAGON_CUDNN=0 leaves recurrent networks to our own kernels")
    dragon._C.set_convolutions_allow_tf32(False)  # flags that are left may have set it
    so_far = [dragon._C.vendor_recurrent_calls()]

    def count():
        so_far.append(dragon._C.vendor_recurrent_calls())
        return so_far[-1] - so_far[-2]
    yield count
    dragon._C.set_convolutions_allow_tf32(False)


def noise(*shape):
    """Return the same noise in every run."""
    return numpy.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def make(module, kind, size, **options):
    """Return a network of a module `nn`, with the same weights in every one."""
    _, _, width, units, layers, both = size
    network = getattr(module.nn, kind.split()[0])(width, units, layers, bidirectional=both, **KINDS[kind], **options)
    with module.no_grad():
        for i, weight in enumerate(network.parameters()):
            weight.copy_(module.tensor(0.4 * noise(*weight.shape) + 0.01 * (i % 3)))
    return network


def feeds(kind, size):
    """Return the arrays of an input and its first states."""
    steps, batch, width, units, layers, both = size
    places = layers * (1 + both)
    states = [noise(places, batch, units) / 2] + ([noise(places, batch, units)[::-1].copy()] if kind == "LSTM" else [])
    return [noise(steps, batch, width), *states]


def results(module, network, arrays, device="cpu", dtype="float32", call=None):
    """Return all results and gradients as arrays; what is differentiated has a part of each result."""
    network = network.to(device, getattr(module, dtype))
    x, *states = [module.tensor(a).to(device, getattr(module, dtype)).requires_grad_() for a in arrays]
    out, last = (call or network)(x, tuple(states) if len(states) == 2 else states[0])
    outs = [out, *(last if isinstance(last, tuple) else [last])]
    sum((y * module.tensor(noise(*y.shape)).to(device)).float().sum() for y in outs).backward()
    grads = [t.grad for t in (x, *states, *network.parameters())]
    return [t.detach().float().cpu().numpy() for t in outs + grads]


def same(got, wanted, dtype="float32"):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        scale = max(1.0, float(numpy.abs(b).max())) if b.size else 1.0
        numpy.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE[dtype] * scale)


@pytest.fixture(scope="module")
def genuine():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_beside_genuine(device, taken, genuine, kind, size, bias):
    """One call forward and one back, with all gradients."""
    arrays = feeds(kind, size)
    got = results(dt, make(dt, kind, size, bias=bias), arrays, device)
    assert taken() == 2
    same(got, results(genuine, make(genuine, kind, size, bias=bias), arrays))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_halves(device, taken, genuine, kind, dtype):
    size = (4, 2, 3, 5, 2, True)
    got = results(dt, make(dt, kind, size), feeds(kind, size), device, dtype)
    assert taken() == 2
    same(got, results(genuine, make(genuine, kind, size), feeds(kind, size)), dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_packed(device, taken, genuine, kind):
    """Sequences of several lengths, in no order, in both directions."""
    size = (5, 4, 3, 6, 2, True)
    arrays = feeds(kind, size)

    def call(module, network):
        utils = module.nn.utils.rnn

        def run(x, states):
            packed = utils.pack_padded_sequence(x, [2, 5, 1, 4], enforce_sorted=False)
            out, last = network(packed, states)
            return utils.pad_packed_sequence(out)[0], last
        return run
    network, other = make(dt, kind, size), make(genuine, kind, size)
    got = results(dt, network, arrays, device, call=call(dt, network))
    assert taken() == 2
    same(got, results(genuine, other, arrays, call=call(genuine, other)))


def test_batch_first_and_strides(device, taken, genuine):
    """Operands that lie otherwise are copied; parameters may be views."""
    size = (5, 3, 4, 6, 1, True)
    arrays = feeds("GRU", size)

    def both(module, where):
        network = make(module, "GRU", size, batch_first=True)
        network.weight_hh_l0 = module.nn.Parameter(network.weight_hh_l0.detach().t().contiguous().t())
        return results(module, network, arrays, where, call=lambda x, h: network(x.transpose(0, 1), h))
    got = both(dt, device)
    assert taken() == 2
    same(got, both(genuine, "cpu"))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_no_batch(device, taken, kind):
    """An empty batch has empty results, and parameters have gradients of zero."""
    network = make(dt, kind, (4, 2, 3, 5, 2, True)).to(device)
    x = dt.zeros(4, 0, 3, device=device, requires_grad=True)
    out, last = network(x)
    h = last[0] if kind == "LSTM" else last
    assert out.shape == (4, 0, 10) and h.shape == (4, 0, 5)
    (out.sum() + h.sum()).backward()
    assert taken() == 2 and x.grad.shape == x.shape
    assert all(float(p.grad.abs().sum()) == 0 for p in network.parameters())


def test_without_gradients(device, taken):
    """Nothing is kept where no gradient is wanted, and the results are the same."""
    size = (5, 3, 4, 6, 2, False)
    network, x = make(dt, "LSTM", size).to(device), dt.tensor(noise(5, 3, 4), device=device)
    with dt.no_grad():
        out, (h, c) = network(x)
    assert taken() == 1 and not out.requires_grad
    trained, (h2, c2) = network(x)
    assert taken() == 1 and trained.requires_grad
    same([t.cpu().numpy() for t in (out, h, c)], [t.detach().cpu().numpy() for t in (trained, h2, c2)])


def test_gradients_of_some(device, taken, genuine):
    """Frozen weights cost no pass of their own, and have no gradients."""
    def both(module, where):
        network = make(module, "LSTM", (3, 2, 4, 3, 2, False)).to(where)
        for name, weight in network.named_parameters():
            weight.requires_grad_(name == "weight_hh_l1")
        network(module.tensor(noise(3, 2, 4)).to(where))[0].square().sum().backward()
        frozen = network.requires_grad_(False)
        x = module.tensor(noise(3, 2, 4)).to(where).requires_grad_()
        frozen(x)[0].square().sum().backward()
        assert network.weight_ih_l0.grad is None
        return [t.grad.cpu().numpy() for t in (network.weight_hh_l1, x)]
    got = both(dt, device)
    assert taken() == 4
    same(got, both(genuine, "cpu"))


def test_twice(device, taken):
    """What was kept serves as often as gradients are asked for, though the library writes to it."""
    network, x = make(dt, "GRU", (4, 2, 3, 5, 2, True)).to(device), dt.tensor(noise(4, 2, 3), device=device)
    loss = network(x)[0].square().sum()
    first = dt.autograd.grad(loss, list(network.parameters()), retain_graph=True)
    second = dt.autograd.grad(loss, list(network.parameters()))
    assert taken() == 3
    same(*([t.cpu().numpy() for t in grads] for grads in (first, second)))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN tanh"])
def test_gradients_of_gradients(device, taken, genuine, kind):
    def both(module, where):
        network = make(module, kind, (3, 2, 3, 4, 1, True)).to(where)
        x = module.tensor(noise(3, 2, 3)).to(where).requires_grad_()
        slope, = module.autograd.grad(network(x)[0].square().sum(), x, create_graph=True)
        slope.square().sum().backward()
        return [t.grad.cpu().numpy() for t in (x, *network.parameters())]
    got = both(dt, device)
    assert taken() >= 1
    same(got, both(genuine, "cpu"))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_dropout(device, taken, kind):
    """Random numbers between layers are ours: the same as without the library, which takes a layer at a time."""
    size, runs = (4, 3, 5, 6, 3, True), []
    for enabled in (True, False):
        with dt.backends.cudnn.flags(enabled=enabled, allow_tf32=False):
            dt.manual_seed(5)
            runs.append(results(dt, make(dt, kind, size, dropout=0.5), feeds(kind, size), device))
        assert taken() == (6 if enabled else 0)
    same(*runs)


def test_switched_off(device, taken):
    size, runs = (4, 2, 3, 5, 2, True), []
    for enabled in (False, True):
        with dt.backends.cudnn.flags(enabled=enabled, allow_tf32=False):
            runs.append(results(dt, make(dt, "LSTM", size), feeds("LSTM", size), device))
        assert taken() == 2 * enabled
    same(*runs)


def test_not_taken(device, taken, genuine):
    """Projections and doubles are ours; so is what is compiled, whose graph is to run anywhere."""
    size = (4, 2, 3, 5, 2, True)
    network, other = (make(module, "LSTM", size, proj_size=2) for module in (dt, genuine))
    x = noise(4, 2, 3)
    got, wanted = network.to(device)(dt.tensor(x, device=device))[0], other(genuine.tensor(x))[0]
    numpy.testing.assert_allclose(got.detach().cpu().numpy(), wanted.detach().numpy(), atol=2e-6)
    make(dt, "GRU", size).to(device, dt.float64)(dt.tensor(x, device=device).double())
    network = make(dt, "GRU", size).to(device)
    dt.compile(network)(dt.tensor(x, device=device))
    assert taken() == 0


@pytest.mark.parametrize("where, calls", [("setup", 0), ("forward", 0), ("backward", 1)])
def test_refusals(device, simt, taken, monkeypatch, genuine, where, calls):
    """What the library refuses, whenever it does, is computed by our own layers."""
    if not simt:
        pytest.skip("no library refuses on demand")
    monkeypatch.setenv("DRAGON_SIMT_DNN_REFUSES", where)
    size = (4, 2, 11 + len(where), 5, 2, True)  # not met before: what was taken once is not asked for again
    got = results(dt, make(dt, "LSTM", size), feeds("LSTM", size), device)
    assert taken() == calls
    same(got, results(genuine, make(genuine, "LSTM", size), feeds("LSTM", size)))


def test_autocast(device, taken):
    network, x = make(dt, "LSTM", (4, 2, 3, 5, 1, False)).to(device), dt.tensor(noise(4, 2, 3), device=device)
    with dt.autocast("cuda", dt.float16):
        out, _ = network(x)
    out.float().square().sum().backward()
    assert taken() == 2 and out.dtype == dt.float16 and network.weight_hh_l0.grad.dtype == dt.float32
    wanted = network(x)[0].detach().cpu().numpy()
    numpy.testing.assert_allclose(out.detach().float().cpu().numpy(), wanted, atol=TOLERANCE["float16"])


@pytest.mark.parametrize("known", [True, False])
def test_noted_down(device, taken, known):
    """Forward and backward passes in a graph of the device; a network that is new there keeps to our own kernels."""
    size = (3, 2, 4, 5 if known else 6, 1, True)
    network, x = make(dt, "LSTM", size).to(device), dt.tensor(noise(3, 2, 4), device=device, requires_grad=True)
    work = lambda: dt.autograd.grad(network(x)[0].square().sum(), [x, *network.parameters()])  # noqa: E731
    if known:
        work()
        assert taken() == 2
    graph = dt.cuda.CUDAGraph()
    with dt.cuda.graph(graph):
        noted = work()
    assert taken() == (2 if known else 0)
    for factor in (1.0, -0.5):
        with dt.no_grad():
            x.copy_(dt.tensor(factor * noise(3, 2, 4)))
        graph.replay()
        same([t.cpu().numpy() for t in noted], [t.cpu().numpy() for t in work()])


def test_threads(device, taken):
    """Each thread has descriptors of its own, and results are the same."""
    network, x = make(dt, "GRU", (4, 2, 3, 5, 2, False)).to(device), dt.tensor(noise(4, 2, 3), device=device)
    found = []

    def work():
        with dt.no_grad():
            found.append(network(x)[0].cpu().numpy())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken() == 4 and len(found) == 4
    for y in found:
        same([y], found[:1])


def test_many_shapes(device, taken):
    """More shapes than descriptors are kept for."""
    network = make(dt, "RNN tanh", (1, 1, 1, 1, 1, False)).to(device)
    with dt.no_grad():
        for steps in range(1, 1100):
            out = network(dt.ones(steps % 1050 + 1, 1, 1, device=device))[0]
    assert taken() == 1099 and out.shape == (50, 1, 1)


def call(device, **changes):
    """Call the operator for an LSTM of one layer, with some arguments of another form."""
    shapes = {name: changes.pop(name, shape) for name, shape in (("x", (6, 4)), ("h0", (1, 3, 5)), ("c0", (1, 3, 5)))}
    tensors = [dragon.ops.to_device(dragon.from_numpy(noise(*s)), device) if s else None for s in shapes.values()]
    weights = [dragon.ops.to_device(dragon.from_numpy(noise(*s)), device)
               for s in changes.pop("weights", [(20, 4), (20, 5), (20,), (20,)])]
    told = {"mode": "lstm", "has_biases": True, "num_layers": 1, "bidirectional": False, "batch_sizes": [3, 3],
            "tf32": False, "room": 0} | changes
    return dragon.ops.recurrent_network(*tensors, weights, **told)


@pytest.mark.parametrize("changes", [
    {"x": (7, 4)}, {"x": (6, 5)}, {"x": (2, 3, 4)}, {"h0": (2, 3, 5)}, {"h0": (1, 4, 5)}, {"c0": None},
    {"weights": []}, {"weights": [(20, 4), (20, 5)]}, {"weights": [(20, 4), (20, 5), (20,), (19,)]},
    {"batch_sizes": []}, {"batch_sizes": [2, 4]}, {"batch_sizes": [3, 3, 0]}, {"batch_sizes": [-3, 9]},
    {"num_layers": 0}, {"num_layers": 2}, {"num_layers": 2**62}, {"num_layers": -1}, {"bidirectional": True},
    {"mode": "gru"}, {"mode": ""}, {"has_biases": False}, {"room": -1}, {"room": 1}])
def test_hostile_calls(device, taken, changes):
    """What does not go together is an error before the library sees it."""
    with pytest.raises((ValueError, TypeError), match="recurrent_network"):
        call(device, **changes)
    assert taken() == 0
    call(device)
    assert taken() == 1


@pytest.mark.parametrize("changes", [{"dy": (5, 5)}, {"dhn": (1, 3, 4)}, {"dcn": (0,)}, {"y": (6, 4)}, {"kept": (1,)},
                                     {"kept": (0,)}])
def test_hostile_gradients(device, taken, changes):
    """Gradients of other shapes, and too little that was kept, are errors as well."""
    def tensor(*shape):
        return dragon.ops.to_device(dragon.from_numpy(noise(*shape)), device)
    shapes = {"dy": (6, 5), "dhn": (1, 3, 5), "dcn": (1, 3, 5), "y": (6, 5)}
    given = [tensor(*changes.get(name, shape)) for name, shape in shapes.items()]
    kept = dragon.ops.cast(tensor(*changes.get("kept", (1 << 16,))), "uint8")
    rest = [tensor(6, 4), tensor(1, 3, 5), tensor(1, 3, 5), [tensor(*s) for s in [(20, 4), (20, 5), (20,), (20,)]],
            "lstm", True, 1, False, [3, 3], False, True]
    with pytest.raises(ValueError, match="recurrent_network_backward"):
        dragon.ops.recurrent_network_backward(*given, kept, *rest)
    with pytest.raises((ValueError, TypeError), match="recurrent_network_backward"):
        dragon.ops.recurrent_network_backward(*given, tensor(1 << 16), *rest)
    assert taken() == 0


def test_not_there(device, simt, monkeypatch):
    """Without the library the operator says so, and networks are computed all the same."""
    with pytest.raises(NotImplementedError, match="recurrent_network: .*cpu"):
        call("cpu")
    if simt:
        monkeypatch.delenv("DRAGON_SIMT_DNN", raising=False)
        with pytest.raises(NotImplementedError, match="recurrent_network"):
            call(device)
        assert dt.nn.LSTM(3, 4).to(device)(dt.ones(2, 1, 3, device=device))[0].shape == (2, 1, 4)
