"""`torch.nn.utils` beside PyTorch's."""
import copy
import importlib
import warnings

import numpy
import pytest

from dragon.vm import torch as mine
from harness.subresults import each

torch = pytest.importorskip("torch")
BOTH = (mine, torch)


def array(*shape, seed=0):
    """Return normal numbers."""
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


def same(ours, theirs, rtol=1e-4, atol=2e-5):
    """Assert that two tensors, or two dicts or sequences of them, hold nearly the same."""
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for left, right in zip(ours, theirs):
            same(left, right, rtol, atol)
    elif hasattr(ours, "detach"):
        assert tuple(ours.shape) == tuple(theirs.shape) and str(ours.dtype) == str(theirs.dtype)
        numpy.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol, atol)
    else:
        assert ours == theirs


def find(guest, path):
    """Return a function of `torch.nn.utils` by its dotted name."""
    found = guest.nn.utils
    for name in path.split("."):
        found = getattr(found, name)
    return found


NORMALIZERS = [("parametrizations.weight_norm", {}), ("parametrizations.weight_norm", {"dim": 1}),
               ("parametrizations.weight_norm", {"dim": None}), ("parametrizations.spectral_norm", {}),
               ("parametrizations.orthogonal", {}), ("parametrizations.orthogonal", {"orthogonal_map": "cayley"}),
               ("parametrizations.orthogonal", {"orthogonal_map": "householder", "use_trivialization": False}),
               ("weight_norm", {}), ("weight_norm", {"dim": None}), ("spectral_norm", {"n_power_iterations": 2})]


@pytest.mark.filterwarnings("ignore")
@each("sizes", [(4, 6), (4, 4), (4, 2)])
@each("path, options", NORMALIZERS)
def test_normalized_weights(path, options, sizes):
    """Train a step, save, load, copy and evaluate with a weight that is computed."""
    notes = []
    for guest in BOTH:
        guest.manual_seed(0)
        layer = find(guest, path)(guest.nn.Linear(*sizes), **options)
        x = guest.tensor(array(3, 4))
        layer(x)
        (layer(x) ** 2).sum().backward()
        grads = {name: param.grad for name, param in layer.named_parameters()}
        again = find(guest, path)(guest.nn.Linear(*sizes), **options)
        if "orthogonal" not in path:
            again.load_state_dict(layer.state_dict())
        copied = layer if "." not in path else copy.deepcopy(layer)
        notes.append([repr(layer), dict(layer.state_dict()), grads, copied.eval()(x), type(layer).__name__])
    same(*notes)


@pytest.mark.filterwarnings("ignore")
def test_normalization_is_undone():
    """Give the parameter back."""
    notes = []
    for guest in BOTH:
        utils = guest.nn.utils
        guest.manual_seed(0)
        layer = utils.remove_weight_norm(utils.weight_norm(guest.nn.Conv1d(2, 3, 2)))
        other = utils.remove_spectral_norm(utils.spectral_norm(guest.nn.Linear(3, 2)))
        third = utils.parametrizations.weight_norm(guest.nn.Linear(3, 2))
        utils.parametrize.remove_parametrizations(third, "weight")
        assert type(third) is guest.nn.Linear
        with pytest.raises(ValueError):
            utils.remove_weight_norm(layer)
        with pytest.raises(RuntimeError):
            utils.weight_norm(utils.weight_norm(layer))
        notes.append([list(layer._parameters), other.state_dict(), third.state_dict(), len(other._forward_pre_hooks)])
    same(*notes)


def symmetric(guest):
    """Return a parametrization with a way back, and one without."""
    class Symmetric(guest.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, value):
            return value.triu()

    class Twice(guest.nn.Module):
        def forward(self, x):
            return x * 2

    class Parts(guest.nn.Module):
        def forward(self, left, right):
            return left + right

        def right_inverse(self, value):
            return value / 2, value / 2
    return Symmetric(), Twice(), Parts()


def test_parametrize():
    """Put properties in the places of parameters, and take them away."""
    notes = []
    for guest in BOTH:
        guest.manual_seed(0)
        api = guest.nn.utils.parametrize
        layer, (even, twice, parts) = guest.nn.Linear(3, 3), symmetric(guest)
        api.register_parametrization(layer, "weight", even)
        note = [type(layer).__name__, repr(layer), layer.state_dict(), api.is_parametrized(layer),
                api.is_parametrized(layer, "bias"), api.type_before_parametrizations(layer) is guest.nn.Linear]
        layer.weight = guest.eye(3)
        note += [layer.weight, layer.parametrizations.weight.original, isinstance(layer, guest.nn.Linear)]
        api.register_parametrization(layer, "weight", twice)
        api.register_parametrization(layer, "bias", parts)
        note += [layer.weight, layer.bias, list(layer.state_dict()), repr(layer)]
        with api.cached():
            note.append(layer.weight is layer.weight)
        note.append(layer.weight is layer.weight)
        other = api.transfer_parametrizations_and_params(layer, guest.nn.Linear(3, 3))
        note += [other.weight, repr(other)]
        note.append(copy.deepcopy(layer).weight)
        api.remove_parametrizations(layer, "weight", leave_parametrized=True)
        api.remove_parametrizations(layer, "bias")
        note += [type(layer).__name__, layer.state_dict(), [param.requires_grad for param in layer.parameters()]]
        for call in (lambda: api.remove_parametrizations(layer, "weight"),
                     lambda: api.register_parametrization(layer, "nothing", even),
                     lambda: api.register_parametrization(layer, "weight", guest.nn.Linear(3, 2))):
            with pytest.raises(ValueError):
                call()
        notes.append(note)
    same(*notes)


@pytest.mark.parametrize("norm", [2.0, 1.0, float("inf"), 0.5])
@pytest.mark.parametrize("bound", [0.1, 100.0])
def test_clip_grad_norm(bound, norm):
    """Scale gradients down to a norm, never up."""
    notes = []
    for guest in BOTH:
        params = [guest.nn.Parameter(guest.tensor(array(3, 4, seed=seed))) for seed in range(3)]
        for param in params[:2]:
            param.grad = guest.tensor(array(3, 4, seed=7))
        total = guest.nn.utils.clip_grad_norm_(params, bound, norm)
        notes.append([total, params[0].grad, params[1].grad, params[2].grad is None])
    same(*notes)


def test_clip_grad_corners():
    """Clip single tensors, generators, nothing, mixed dtypes, infinite norms, and by value."""
    notes = []
    for guest in BOTH:
        utils, param = guest.nn.utils, guest.nn.Parameter(guest.tensor(array(4)))
        param.grad = guest.tensor(array(4)) * 3
        double = guest.nn.Parameter(guest.ones(2, dtype=guest.float64))
        double.grad = guest.full((2,), 5.0, dtype=guest.float64)
        note = [utils.clip_grad_norm_(param, 1.0), param.grad.clone(), utils.clip_grad_norm_([], 1.0)]
        note += [utils.get_total_norm([param.grad, double.grad]), utils.clip_grad_norm_([param, double], 0.5),
                 double.grad.clone(), utils.clip_grad_norm_([param, double], 100.0), double.grad.clone()]
        utils.clip_grads_with_norm_([param], 0.1, guest.tensor(2.0))
        note.append(param.grad.clone())
        utils.clip_grad_value_(iter([param, double]), 0.01)
        note += [param.grad, double.grad]
        param.grad = guest.full((4,), float("inf"))
        with pytest.raises(RuntimeError):
            utils.clip_grad_norm_(param, 1.0, error_if_nonfinite=True)
        with pytest.warns(FutureWarning):
            utils.clip_grad_norm(param, 1.0)
        with pytest.warns(UserWarning):
            utils.clip_grad_norm_((item for item in ()), 1.0)
        notes.append(note)
    same(*notes)


def test_vectors_of_parameters():
    """Flatten parameters and spread a vector over them."""
    notes = []
    for guest in BOTH:
        guest.manual_seed(0)
        layer = guest.nn.Linear(3, 2)
        vector = guest.nn.utils.parameters_to_vector(layer.parameters())
        note = [vector, vector.requires_grad]
        guest.nn.utils.vector_to_parameters(guest.arange(8.0), layer.parameters())
        notes.append(note + [layer.state_dict()])
    same(*notes)


def test_fusion():
    """Put normalization into the layer before it."""
    notes = []
    for guest in BOTH:
        guest.manual_seed(0)
        nn, note = guest.nn, []
        for layer, norm, x, fuse in (
                (nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 4, 4), lambda a, b: nn.utils.fuse_conv_bn_eval(a, b)),
                (nn.ConvTranspose2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 4, 4),
                 lambda a, b: nn.utils.fuse_conv_bn_eval(a, b, transpose=True)),
                (nn.Linear(4, 3), nn.BatchNorm1d(3), (5, 4), nn.utils.fuse_linear_bn_eval)):
            x = guest.tensor(array(*x))
            norm(layer(x))
            fused = fuse(layer.eval(), norm.eval())
            same(fused(x), norm(layer(x)))
            note += [fused(x), type(fused).__name__]
        with pytest.raises(AssertionError):
            nn.utils.fuse_conv_bn_eval(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3))
        notes.append(note)
    same(*notes)


def test_skip_init():
    """Make a layer without filling it."""
    layer = mine.nn.utils.skip_init(mine.nn.Linear, 3, 2)
    assert layer.weight.shape == (2, 3) and layer.weight.device.type == "cpu"
    for call in (lambda nn: nn.utils.skip_init(int, 3), lambda nn: nn.utils.skip_init(nn.ReLU)):
        with pytest.raises(RuntimeError):
            call(mine.nn)


def test_memory_format():
    """Set the memory format of weights."""
    layer = mine.nn.Sequential(mine.nn.Conv2d(2, 3, 2), mine.nn.Conv3d(2, 3, 2))
    before = layer[0].weight.detach().clone()
    mine.nn.utils.convert_conv2d_weight_memory_format(layer, mine.channels_last)
    mine.nn.utils.convert_conv3d_weight_memory_format(layer, mine.channels_last_3d)
    assert layer[0].weight.is_contiguous(memory_format=mine.channels_last)
    numpy.testing.assert_array_equal(layer[0].weight.detach().numpy(), before.numpy())


def prune_of(guest):
    """Return the module that prunes."""
    return importlib.import_module(guest.nn.utils.__name__ + ".prune")


def prune_scenarios(guest):
    """Yield what pruning leaves, in many ways."""
    nn, prune = guest.nn, prune_of(guest)
    ways = [lambda m: prune.l1_unstructured(m, "weight", 0.3), lambda m: prune.random_unstructured(m, "weight", 4),
            lambda m: prune.ln_structured(m, "weight", 1, 2, 0), lambda m: prune.random_structured(m, "weight", 0.5, 1),
            lambda m: prune.identity(m, "bias"),
            lambda m: prune.custom_from_mask(m, "bias", guest.tensor([1, 0, 1, 1])),
            lambda m: prune.l1_unstructured(m, "weight", 2, importance_scores=guest.tensor(array(4, 5))),
            lambda m: prune.ln_structured(prune.l1_unstructured(m, "weight", 5), "weight", 0.5, 1, -1)]
    for way in ways:
        guest.manual_seed(0)
        layer = way(nn.Linear(5, 4))
        yield prune.is_pruned(layer)
        yield dict(layer.state_dict())
        yield layer(guest.tensor(array(2, 5)))
        name = "weight" if "weight_orig" in layer._parameters else "bias"
        yield dict(prune.remove(layer, name).state_dict())
    guest.manual_seed(0)
    m = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3))
    prune.global_unstructured([(m[0], "weight"), (m[1], "weight")], prune.L1Unstructured, amount=0.4)
    yield dict(m.state_dict())
    yield prune.L1Unstructured(0.5).prune(guest.tensor(array(3, 3)))


def test_prune():
    """Take parameters out in all ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(list(prune_scenarios(mine)), list(prune_scenarios(torch)))
    for guest in BOTH:
        prune, layer = prune_of(guest), guest.nn.Linear(3, 2)
        for call in (lambda: prune.l1_unstructured(layer, "weight", -1),
                     lambda: prune.l1_unstructured(layer, "weight", 99),
                     lambda: prune.remove(layer, "weight"), lambda: prune.ln_structured(layer, "bias", 1, 2, 0)):
            with pytest.raises(ValueError):
                call()


def test_float_functional():
    """Compute in floats, as modules."""
    both = []
    for guest in BOTH:
        f, x, y = guest.nn.quantized.FloatFunctional(), guest.tensor(array(2, 2)), guest.tensor(array(2, 2, seed=1))
        both.append([repr(f), f.add(x, y), f.mul(x, y), f.cat([x, y], 1), f.add_relu(x, y), f.matmul(x, y),
                     f.add_scalar(x, 2.0), f.mul_scalar(x, 3.0)])
    same(*both)
