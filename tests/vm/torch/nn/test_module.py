"""`Module` beside PyTorch's: the same scenarios on both, and the same notes taken on the way."""
import copy
import pickle
import warnings
from collections import OrderedDict

import numpy
import pytest

from dragon.vm import torch as mine
from harness.subresults import each

torch = pytest.importorskip("torch")
SCENARIOS = []


def scenario(function):
    """Run a function on both guests; what it returns must be the same."""
    SCENARIOS.append(pytest.param(function, id=function.__name__))
    return function


def plain(value):
    """Return a value as what can be compared between the guests."""
    if hasattr(value, "detach"):
        items = [round(float(item), 4) for item in value.detach().flatten().tolist()]
        return tuple(value.shape), str(value.dtype), items, bool(value.requires_grad)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(type(value).__name__)


def raised(function, *args, **kwargs):
    """Return the name of the error that a call raises, or None."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        if type(error).__module__ == "dragon":  # the engine's errors are of several classes
            return "RuntimeError"
        for kind in (KeyError, IndexError, AttributeError, TypeError, NotImplementedError, ValueError, AssertionError,
                     RuntimeError):
            if isinstance(error, kind):
                return kind.__name__
        return type(error).__name__
    return None


def net(guest):
    """Return a small model with a buffer, a nested child and a shared one."""
    class Net(guest.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = guest.nn.Linear(3, 4)
            self.norm = guest.nn.BatchNorm1d(4)
            self.body = guest.nn.Sequential(guest.nn.ReLU(), guest.nn.Linear(4, 4))
            self.again = self.first
            self.scale = guest.nn.Parameter(guest.ones(1))
            self.register_buffer("kept", guest.arange(3.0))
            self.register_buffer("dropped", guest.zeros(2), persistent=False)
            self.register_parameter("nothing", None)

        def forward(self, x, factor=1.0):
            return self.body(self.norm(self.first(x))) * self.scale * factor
    guest.manual_seed(0)
    return Net()


def batch(guest):
    """Return inputs."""
    return guest.tensor(numpy.linspace(-1, 1, 12, dtype="float32").reshape(4, 3))


@scenario
def registers(g):
    """Attributes become what they are."""
    m = net(g)
    m.plain = g.zeros(1)
    notes = [list(m._parameters), list(m._buffers), list(m._modules), sorted(m._non_persistent_buffers_set),
             "plain" in m.__dict__, m.nothing is None]
    m.first = None
    m.kept = g.ones(2)
    m.scale = None
    del m.dropped
    notes += [m._modules["first"] is None, m.kept, m.scale is None, "dropped" in m._buffers,
              sorted(m._non_persistent_buffers_set)]
    m.body = g.nn.Identity()
    m.norm = g.nn.Parameter(g.zeros(1))
    notes += [list(m._modules), list(m._parameters), repr(m)]
    for name in ("weight", "training", "_modules", "body", "scale"):
        notes.append(name in dir(m))
    return notes


@scenario
def refuses(g):
    """Errors have PyTorch's classes."""
    m, p, t, nn = net(g), g.nn.Parameter(g.zeros(1)), g.zeros(1), g.nn

    class Early(nn.Module):
        def __init__(self, what):
            self.it = what
    computed = p * 2
    calls = [lambda: m.missing, lambda: setattr(m, "scale", t), lambda: setattr(m, "first", 3),
             lambda: setattr(m, "first", t), lambda: setattr(m, "kept", "text"), lambda: m.register_buffer("kept", t),
             lambda: m.register_buffer("forward", t), lambda: m.register_buffer("a.b", t),
             lambda: m.register_buffer("", t),
             lambda: m.register_buffer(3, t), lambda: m.register_buffer("x", 3), lambda: m.register_parameter("y", t),
             lambda: m.register_parameter("y.z", p), lambda: m.register_parameter("", p),
             lambda: m.register_parameter("forward", p), lambda: m.add_module("z", 3), lambda: m.add_module(3, m),
             lambda: m.add_module("a.b", nn.ReLU()), lambda: m.add_module("", nn.ReLU()),
             lambda: m.add_module("forward", nn.ReLU()), lambda: m.train("yes"), lambda: m.to(g.int64),
             lambda: m.get_submodule("body.7"), lambda: m.get_submodule("scale"), lambda: m.get_parameter("kept"),
             lambda: m.get_parameter("first.nope"), lambda: m.get_buffer("scale"), lambda: nn.Module()(1),
             lambda: nn.Module(1), lambda: nn.Module(a=1), lambda: nn.Linear(2, 2, 2, 2, 2, 2, 2),
             lambda: Early(p), lambda: Early(nn.ReLU()), lambda: nn.Module().get_extra_state(),
             lambda: m.load_state_dict(3), lambda: m.load_state_dict({}), lambda: setattr(m, "w", computed),
             lambda: m.register_parameter("w2", computed), lambda: delattr(m, "absent"),
             lambda: m.set_submodule("", m), lambda: m.set_submodule("body.9", nn.ReLU(), strict=True),
             lambda: m.set_submodule("body.0", 3), lambda: nn.Parameter(g.zeros(1, dtype=g.int64)),
             lambda: nn.Parameter([1.0]), lambda: m.first(g.zeros(1, 9))]
    return [raised(call) for call in calls]


@scenario
def walks(g):
    """Everything is found, in order, once or as often as it is there."""
    m = net(g)
    notes = [[name for name, _ in m.named_parameters()], [name for name, _ in m.named_parameters(prefix="p")],
             [name for name, _ in m.named_parameters(remove_duplicate=False)],
             [name for name, _ in m.named_parameters(recurse=False)], [name for name, _ in m.named_buffers()],
             [name for name, _ in m.named_modules()], [name for name, _ in m.named_modules(remove_duplicate=False)],
             [name for name, _ in m.named_children()], len(list(m.children())), len(list(m.modules())),
             len(list(m.parameters())), len(list(m.buffers(recurse=False)))]
    notes += [m.get_submodule("body.1") is m.body[1], m.get_submodule("") is m, plain(m.get_parameter("body.1.bias")),
              plain(m.get_buffer("norm.running_var"))]
    m.set_submodule("body.0", g.nn.Tanh())
    m.set_submodule("fresh", g.nn.Tanh())
    order = []
    m.apply(lambda module: order.append(type(module).__name__))
    return notes + [order, repr(m)]


@scenario
def saves_and_loads(g):
    """`state_dict` in all its forms."""
    m, other = net(g), net(g)
    state = m.state_dict()
    notes = [list(state), list(m.state_dict(prefix="pre.")),
             {key: dict(value) for key, value in state._metadata.items()},
             [value.requires_grad for value in state.values()],
             [value.requires_grad for value in m.state_dict(keep_vars=True).values()],
             m.state_dict(keep_vars=True)["scale"] is m.scale]
    m(batch(g))
    result = other.load_state_dict(m.state_dict())
    notes += [repr(result), plain(other.state_dict())]
    partial = OrderedDict(list(m.state_dict().items())[2:])
    partial["strange"] = g.zeros(1)
    result = other.load_state_dict(partial, strict=False)
    notes += [list(result.missing_keys), list(result.unexpected_keys)]
    wrong = m.state_dict()
    wrong["scale"] = g.zeros(3)
    notes += [raised(other.load_state_dict, wrong), raised(other.load_state_dict, partial)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notes.append(list(m.state_dict(OrderedDict(), "old.")))
    given = {key: value.clone() for key, value in m.state_dict().items()}
    given["scale"] = g.full((1,), 3.0)
    other.load_state_dict(given, assign=True)
    notes += [other.scale.data_ptr() == given["scale"].data_ptr(), type(other.scale).__name__,
              other.scale.requires_grad, other.kept is given["kept"]]
    return notes


@scenario
def extra_state(g):
    """A class may add to the `state_dict` what it likes."""
    class Extra(g.nn.Linear):
        seen = None

        def get_extra_state(self):
            return {"answer": 42}

        def set_extra_state(self, state):
            self.seen = state
    m = g.nn.Sequential(Extra(2, 2))
    state = m.state_dict()
    m.load_state_dict(state)
    notes = [list(state), m[0].seen]
    del state["0._extra_state"]
    ordinary = g.nn.Sequential(g.nn.Linear(2, 2))
    return notes + [raised(m.load_state_dict, state), raised(ordinary.load_state_dict, m.state_dict())]


@scenario
def state_hooks(g):
    """Hooks before and after saving and loading."""
    m, notes = net(g), []

    def pre_load(module, state_dict, prefix, metadata, strict, missing, unexpected, errors):
        notes.append((type(module).__name__, prefix, strict, len(state_dict)))

    def post_load(module, keys):
        notes.append((type(module).__name__, len(keys.missing_keys)))
        keys.missing_keys.clear()

    def post_save(module, state_dict, prefix, metadata):
        notes.append((prefix, sorted(metadata)))
        state_dict[prefix + "added"] = 1

    def older(module, state_dict, prefix, metadata):
        state_dict.pop(prefix + "added", None)
        return state_dict
    handles = [m.body.register_state_dict_pre_hook(lambda module, prefix, keep: notes.append((prefix, keep))),
               m.register_state_dict_post_hook(post_save), m._register_state_dict_hook(older),
               m.first.register_load_state_dict_pre_hook(pre_load), m.register_load_state_dict_post_hook(post_load)]
    state = m.state_dict()
    notes.append(list(state))
    del state["scale"]
    notes.append(repr(m.load_state_dict(state)))
    copied = copy.deepcopy(m)
    notes.append(raised(copied.load_state_dict, m.state_dict()))
    for handle in handles:
        handle.remove()
    notes.append(list(m.state_dict()))
    return notes


@scenario
def forward_hooks(g):
    """Hooks before and after forward, with all their options, in their order."""
    m, notes = net(g).eval(), []

    def note(name):
        return lambda module, args, *rest: notes.append((name, type(module).__name__, len(args), len(rest)))
    handles = [m.register_forward_pre_hook(note("pre")), m.register_forward_pre_hook(note("earlier"), prepend=True),
               m.register_forward_pre_hook(lambda module, args, kwargs: ((args[0] * 2,), {"factor": 3.0}),
                                           with_kwargs=True),
               m.register_forward_pre_hook(lambda module, args: args[0] + 1),
               m.register_forward_hook(note("after")), m.register_forward_hook(note("kwargs"), with_kwargs=True),
               m.register_forward_hook(lambda module, args, output: output * 10),
               m.body.register_forward_hook(note("first"), prepend=True, always_call=True)]
    notes.append(plain(m(batch(g), factor=2.0)))
    handles[0].remove()
    with handles[1]:
        notes.append(plain(m(batch(g))))
    notes.append([len(m._forward_pre_hooks), len(m._forward_hooks), len(m._forward_hooks_with_kwargs)])

    def fail(module, args):
        raise ValueError("stop")
    m.body[1].register_forward_pre_hook(fail)
    notes.append(raised(m, batch(g)))
    m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    notes.append(raised(m, batch(g)))
    return notes


@scenario
def global_hooks(g):
    """Hooks of all modules."""
    m, notes, api = net(g).eval(), [], g.nn.modules.module
    handles = [api.register_module_forward_pre_hook(lambda module, args: notes.append(("pre", type(module).__name__))),
               api.register_module_forward_hook(
                   lambda module, args, out: notes.append(("post", type(module).__name__))),
               api.register_module_full_backward_pre_hook(
                   lambda module, grads: notes.append(("before", type(module).__name__, len(grads)))),
               api.register_module_full_backward_hook(
                   lambda module, inner, outer: notes.append(("back", type(module).__name__, len(inner), len(outer)))),
               api.register_module_parameter_registration_hook(lambda module, name, value: notes.append(name)),
               api.register_module_buffer_registration_hook(lambda module, name, value: notes.append(name)),
               api.register_module_module_registration_hook(lambda module, name, value: notes.append(name))]
    m(batch(g).requires_grad_()).sum().backward()
    m.extra = g.nn.BatchNorm1d(1)
    for handle in handles:
        handle.remove()
    m(batch(g)).sum().backward()
    return notes


@scenario
def backward_hooks(g):
    """Full backward hooks see and change gradients."""
    notes = []
    for leaf in (True, False):
        m = net(g).eval()
        handles = [m.first.register_full_backward_hook(
            lambda module, inner, outer: notes.append((plain(inner), plain(outer)))),
            m.body.register_full_backward_pre_hook(lambda module, outer: (outer[0] * 2,)),
            m.body.register_full_backward_hook(lambda module, inner, outer: (inner[0] * 3,)),
            m.register_full_backward_hook(lambda module, inner, outer: notes.append((plain(inner), plain(outer))))]
        x = batch(g).requires_grad_(leaf)
        m(x, factor=2.0).sum().backward()
        notes += [plain(x.grad), plain(m.first.weight.grad), plain(m.body[1].bias.grad)]
        notes.append(raised(m.first.register_backward_hook, print))
        for handle in handles:
            handle.remove()
    with g.no_grad():
        m.register_full_backward_hook(print)
        notes.append(plain(m(batch(g))))
    return notes


@scenario
def older_backward_hooks(g):
    """The older backward hooks see the last operator's gradients."""
    m, notes = g.nn.Sigmoid(), []
    m.register_backward_hook(lambda module, inner, outer: notes.append((plain(inner), plain(outer))))
    x = batch(g).requires_grad_()
    m(x).sum().backward()
    return notes + [plain(x.grad)]


@scenario
def moves(g):
    """Casting and moving keep identities, gradients and devices as PyTorch does."""
    m = net(g)
    m(batch(g)).sum().backward()
    weight = m.first.weight
    same = m.to(g.float64)
    notes = [same is m, m.first.weight is weight, str(weight.dtype), str(weight.grad.dtype), str(m.kept.dtype),
             str(m.norm.num_batches_tracked.dtype), weight.is_leaf, weight.requires_grad]
    for cast in ("float", "double", "half", "bfloat16", "float"):
        notes.append(str(getattr(m, cast)().scale.dtype))
    m.to(g.zeros(1, dtype=g.float64))
    notes += [str(m.scale.dtype), str(m.to("cpu").scale.device), str(m.cpu().scale.device)]
    m.type(g.float32)
    notes.append(str(m.scale.dtype))
    m.requires_grad_(False)
    notes.append([param.requires_grad for param in m.parameters()])
    m.zero_grad(set_to_none=False)
    notes.append([plain(param.grad) for param in m.parameters()])
    m.zero_grad()
    notes.append([param.grad is None for param in m.parameters()])
    meta = g.nn.Linear(2, 3, device="meta")
    notes += [str(meta.weight.device), raised(meta.to, "cpu"), tuple(meta.to_empty(device="cpu").weight.shape),
              str(meta.weight.device), type(meta.weight).__name__]
    with g.device("meta"):
        notes.append(str(g.nn.Linear(2, 3).weight.device))
    return notes


@scenario
def trains_and_evaluates(g):
    """Modes go down to all children."""
    m = net(g)
    notes = [m.training, m.eval() is m, [module.training for module in m.modules()], m.train().body[1].training]
    m.body.eval()
    return notes + [[module.training for module in m.modules()]]


@scenario
def copies(g):
    """Deep copies share nothing, shallow ones do; both work."""
    m = net(g)
    m.hooked = []
    m.register_forward_hook(lambda module, args, out: module.hooked.append(1))
    deep, flat = copy.deepcopy(m), copy.copy(m)
    deep.first.weight.data.fill_(0)
    deep(batch(g))
    return [plain(m.first.weight), deep.again is deep.first, flat.first is m.first, len(deep.hooked), len(m.hooked),
            deep.scale.requires_grad, type(deep.scale).__name__, repr(deep)]


@scenario
def pickles(g):
    """Pickles come back."""
    g.manual_seed(0)
    m = g.nn.Sequential(g.nn.Linear(2, 3), g.nn.LSTM(3, 2), g.nn.BatchNorm1d(2), g.nn.MultiheadAttention(4, 2))
    again = pickle.loads(pickle.dumps(m))
    return [plain(again.state_dict()), repr(again), plain(again[0](g.ones(1, 2)))]


@scenario
def buffers_and_parameters(g):
    """`Parameter` and `Buffer` objects."""
    nn, notes = g.nn, []
    p, b = nn.Parameter(g.ones(2)), nn.Buffer(g.zeros(2), persistent=False)
    m = nn.Module()
    m.p, m.b, m.c = p, b, nn.Buffer(g.ones(1))
    notes += [repr(p), isinstance(p, nn.Parameter), isinstance(p, g.Tensor), isinstance(b, nn.Buffer),
              isinstance(g.ones(1), nn.Parameter), list(m.state_dict()), [name for name, _ in m.named_buffers()]]
    for made in (p * 2, p.data, p.detach(), p.clone(), p.view(1, 2)):
        notes.append(type(made).__name__)
    q = nn.Parameter(p, requires_grad=False)
    p.data.fill_(5)
    notes += [plain(q), q is p, nn.Parameter().shape, plain(copy.deepcopy(p)), plain(pickle.loads(pickle.dumps(p)))]
    p.data = g.zeros(3)
    return notes + [tuple(p.shape), p.is_leaf]


@scenario
def lazy(g):
    """Lazy modules learn their shapes from the first input, or from what is loaded."""
    nn, notes = g.nn, []
    rows = [("LazyLinear", (4,), (2, 3)), ("LazyConv1d", (4, 2), (2, 3, 5)), ("LazyConv2d", (4, 2), (2, 3, 5, 5)),
            ("LazyConv3d", (4, 2), (2, 3, 4, 4, 4)), ("LazyConvTranspose1d", (4, 2), (2, 3, 5)),
            ("LazyConvTranspose2d", (4, 2), (2, 3, 5, 5)), ("LazyConvTranspose3d", (4, 2), (1, 2, 3, 3, 3)),
            ("LazyBatchNorm1d", (), (2, 3)), ("LazyBatchNorm2d", (), (2, 3, 4, 4)),
            ("LazyBatchNorm3d", (), (2, 3, 2, 2, 2)), ("LazyInstanceNorm1d", (), (2, 3, 4)),
            ("LazyInstanceNorm2d", (), (2, 3, 4, 4)), ("LazyInstanceNorm3d", (), (2, 3, 2, 2, 2))]
    for name, args, shape in rows:
        g.manual_seed(0)
        module = getattr(nn, name)(*args)
        before = repr(module)
        module(g.ones(shape))
        notes += [before, repr(module), type(module).__name__, plain(module.state_dict())]
    fresh = nn.LazyLinear(3)
    notes += [repr(fresh.weight), raised(lambda: fresh.weight.shape), raised(lambda: fresh.weight + 1),
              fresh.has_uninitialized_params(), isinstance(fresh.weight, nn.Parameter)]
    fresh.load_state_dict(nn.Linear(5, 3).state_dict())
    copied = copy.deepcopy(nn.LazyLinear(3))
    return notes + [tuple(fresh.weight.shape), tuple(copied(g.ones(1, 7)).shape)]


@scenario
def functional_calls(g):
    """A module called with other tensors than its own."""
    m = net(g).eval()
    given = {name: g.ones_like(value) for name, value in m.named_parameters()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = g.nn.utils.stateless.functional_call
        notes = [plain(call(m, given, batch(g))), plain(m.first.weight),
                 plain(call(m, {"again.weight": g.zeros(4, 3)}, (batch(g),), {"factor": 2.0})),
                 raised(call, m, given, batch(g), strict=True)]
    return notes


@scenario
def replaces_on_compile(g):
    """`compile` leaves results alone."""
    if g is not mine:
        return 4.0
    m = g.nn.Identity()
    if raised(lambda: g.compile) is None:
        m.compile()
    return float(m(g.tensor(4.0)))


@pytest.mark.filterwarnings("ignore")
@each("play", SCENARIOS)
def test_scenario(play):
    """Play a scenario on both."""
    ours, theirs = plain(play(mine)), plain(play(torch))
    assert len(ours) == len(theirs) if isinstance(theirs, list) else True
    if isinstance(theirs, list):
        for place, (left, right) in enumerate(zip(ours, theirs)):
            assert left == right, f"note {place}"
    assert ours == theirs


def model(guest):
    """Return a model of many kinds of layers, after a fixed seed."""
    guest.manual_seed(0)
    nn = guest.nn
    return nn.Sequential(
        nn.Linear(2, 3), nn.ReLU(), nn.Conv1d(1, 1, 1), nn.LSTM(3, 2), nn.BatchNorm1d(2), nn.MultiheadAttention(4, 2),
        nn.TransformerEncoderLayer(4, 2, 6, activation="gelu"), nn.Embedding(3, 2), nn.GRUCell(2, 2), nn.ZeroPad2d(1),
        nn.ModuleDict({"a": nn.ReflectionPad1d(1)}), nn.ParameterList([guest.ones(2)]), nn.CrossEntropyLoss(),
        nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d((1, None)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source, target", [(mine, torch), (torch, mine)], ids=["to_pytorch", "from_pytorch"])
def test_whole_models_in_files(source, target, tmp_path):
    """Load a whole model that the other has saved, and go on with it."""
    source.save(model(source), tmp_path / "model.pt")
    loaded, expected = target.load(tmp_path / "model.pt", weights_only=False), model(target)
    assert repr(loaded) == repr(expected)
    assert plain(list(loaded.parameters())[:20]) == plain(list(expected.parameters())[:20])
    loaded[0].register_forward_hook(lambda module, args, output: output * 2)
    assert plain(loaded[0](target.ones(1, 2))) == plain(expected[0](target.ones(1, 2)) * 2)
    assert plain(loaded[3](target.ones(2, 1, 3))) == plain(expected[3](target.ones(2, 1, 3)))
    assert plain(loaded.eval()[6](target.ones(2, 1, 4))) == plain(expected.eval()[6](target.ones(2, 1, 4)))
