"""Gradients of and with respect to nested tensors."""
import numpy as np
import pytest
import torch
from harness.nested import samples
from harness.subresults import each

from dragon.vm import torch as dt

BOTH = dt, torch
SHAPES = [(2, 3), (0, 3), (4, 3)]
COMPUTE = {
    "product": lambda t, x, w: (x * x).sum(), "bias": lambda t, x, w: ((x + w[0]) ** 2).sum(),
    "linear": lambda t, x, w: (t.nn.functional.linear(x, w) ** 2).sum(), "values": lambda t, x, w: (
        x.values() ** 2).sum(), "matmul": lambda t, x, w: (x @ w.T).sin().sum(),
    "softmax": lambda t, x, w: (t.softmax(x, -1) ** 2).sum(), "gelu": lambda t, x, w: t.nn.functional.gelu(x).sum(),
    "padded": lambda t, x, w: (x.to_padded_tensor(0.0) ** 3).sum(), "chunk": lambda t, x, w: (
        x.chunk(3, -1)[1] ** 2).sum(), "samples": lambda t, x, w: (x.unbind()[2] ** 2).sum(),
    "layer_norm": lambda t, x, w: (t.nn.functional.layer_norm(x, (3,), w[0], w[1]) ** 3).sum(),
    "rms_norm": lambda t, x, w: (t.nn.functional.rms_norm(x, (3,), w[0]) ** 3).sum(),
    "cat": lambda t, x, w: (t.cat([x, x * 2], -1) ** 2).sum(),
    "over samples": lambda t, x, w: (x * t.arange(3.).double().reshape(3, 1, 1)).sum(),
    "unsqueezed": lambda t, x, w: (x.unsqueeze(-1) * w[:, 0]).sum()}
# What genuine PyTorch has no gradients of, or others than of the samples: a function of the whole, and of one sample.
MORE = {"mean": (lambda x: x.mean(1), lambda x: x.mean(0)), "rows": (lambda x: x.sum(-1), lambda x: x.sum(-1)),
        "ragged": (lambda x: x.sum(1), lambda x: x.sum(0)), "softmax": (lambda x: x.softmax(1), lambda x: x.softmax(0)),
        "amax": (lambda x: x.amax(1), lambda x: x.amax(0)), "prod": (lambda x: x.prod(1), lambda x: x.prod(0)),
        "transposed": (lambda x: x.transpose(1, 2).sum(2), lambda x: x.T.sum(1)),
        "normalized": (lambda x: dt.nn.functional.layer_norm(x, x.shape[1:]),
                       lambda x: dt.nn.functional.layer_norm(x, x.shape)),
        "outer": (lambda x: x.transpose(1, 2) @ x, lambda x: x.T @ x)}


def grads_of(t, compute, make):
    parts = [one.requires_grad_() for one in samples(t, SHAPES)]
    w = samples(t, [(2, 3)], seed=3)[0].requires_grad_()
    x = make(t, parts)
    compute(t, x, w).backward()
    found = [*parts, w]
    found = [x] + found if x.is_leaf else found
    return [None if one.grad is None else (one.grad.values() if one.is_nested else one.grad).numpy() for one in found]


MADE = {"of samples": lambda t, parts: t.nested.as_nested_tensor(parts, layout=t.jagged),
        "leaf": lambda t, parts: t.nested.nested_tensor(parts, layout=t.jagged, requires_grad=True)}


@each("made", list(MADE))
@each("name", list(COMPUTE))
def test_gradients_agree_with_genuine(name, made):
    for mine, genuine in zip(*(grads_of(t, COMPUTE[name], MADE[made]) for t in BOTH)):
        assert (mine is None) == (genuine is None) and (mine is None or np.allclose(mine, genuine))


@each("name", list(MORE))
def test_gradients_agree_with_those_of_samples(name):
    of_whole, of_sample = MORE[name]
    parts = [one.requires_grad_() for one in samples(dt, [(2, 3), (1, 3), (4, 3)])]
    made = of_whole(dt.nested.as_nested_tensor(parts, layout=dt.jagged)).unbind()
    wanted = [of_sample(one) for one in parts]
    assert all(np.allclose(a.detach().numpy(), b.detach().numpy()) for a, b in zip(made, wanted))
    pairs = (dt.autograd.grad(sum((one ** 3).sum() for one in found), parts) for found in (made, wanted))
    assert all(np.allclose(a.numpy(), b.numpy()) for a, b in zip(*pairs))


def test_a_nested_leaf_has_a_nested_gradient():
    for t in BOTH:
        for layout in (t.jagged, t.strided):
            x = t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=layout, requires_grad=True)
            assert x.is_leaf and x.grad is None and x.grad_fn is None
            (x * 2).backward(t.nested.nested_tensor([t.ones(2), t.zeros(3)], layout=layout) if layout is t.strided
                             else t.ones_like(x))
            assert x.grad.is_nested and x.grad.layout is layout and x.grad.unbind()[0].tolist() == [2, 2]
            assert not x.detach().requires_grad and (x * 2).requires_grad and not (x * 2).is_leaf
            x.grad = None
            assert x.grad is None
        with t.no_grad():
            assert not (x * 2).requires_grad


def test_gradients_go_to_values_and_samples():
    for t in BOTH:
        values = t.arange(10.).reshape(5, 2).requires_grad_()
        x = t.nested.nested_tensor_from_jagged(values, t.tensor([0, 2, 5]))
        assert not x.is_leaf and x.requires_grad
        (x * x).sum().backward()
        assert values.grad.tolist() == (values * 2).tolist()
        a, b = t.ones(2, requires_grad=True), t.ones(3, requires_grad=True)
        made = t.nested.as_nested_tensor([a, b])
        made.backward(t.nested.nested_tensor([t.ones(2), t.zeros(3)]))
        assert a.grad.tolist() == [1, 1] and b.grad.tolist() == [0, 0, 0]


def test_gradients_asked_for():
    for t in BOTH:
        x = t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=t.jagged, requires_grad=True)
        found, = t.autograd.grad((x ** 3).sum(), x, create_graph=True)
        assert found.is_nested and found.values().tolist() == [3] * 5
        assert t.autograd.grad(found.sum(), x)[0].values().tolist() == [6] * 5


def test_gradients_of_functions():
    for t in BOTH:
        x = t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=t.jagged, requires_grad=True)
        y = x * 2
        y.retain_grad()
        (y * y).sum().backward()
        assert y.grad.is_nested and y.grad.values().tolist() == [4] * 5
    x = dt.nested.nested_tensor([dt.ones(2), dt.ones(3)], layout=dt.jagged)
    found = dt.func.grad(lambda a: (a * a).sum())(x)  # genuine PyTorch refuses
    assert found.is_nested and found.values().tolist() == [2] * 5
    assert dt.func.grad(lambda w: (x * w).sum())(dt.ones(())).item() == 5


@pytest.mark.parametrize("layout", ["jagged", "strided"])
def test_compiled_functions_run_as_they_are(layout):
    x = dt.nested.nested_tensor([dt.ones(2), dt.ones(3)], layout=getattr(dt, layout))
    compiled = dt.compile(lambda a: dt.nn.functional.relu(a) * 2)
    with pytest.warns(UserWarning, match="which is made of other tensors"):
        made = compiled(x)
    assert made.is_nested and [one.tolist() for one in made.unbind()] == [[2] * 2, [2] * 3]
    assert [one.tolist() for one in compiled(x).unbind()] == [[2] * 2, [2] * 3]


@pytest.mark.parametrize("layout", ["jagged", "strided"])
def test_optimizers_step_nested_parameters(layout):
    parts = samples(dt, SHAPES, "float32")
    nested = dt.nn.Parameter(dt.nested.nested_tensor(parts, layout=getattr(dt, layout)))
    flat = dt.nn.Parameter(dt.cat([one.reshape(-1) for one in parts]))
    assert isinstance(nested, dt.nn.Parameter)
    for kind, options in ((dt.optim.SGD, {"momentum": 0.9}), (dt.optim.Adam, {}), (dt.optim.AdamW, {})):
        optimizers = [kind([one], lr=0.1, **options) for one in (nested, flat)]
        for _ in range(2):
            for one, optimizer in zip((nested, flat), optimizers):
                optimizer.zero_grad()
                values = one.values() if one.is_nested else one
                (values ** 2).sum().backward()
                optimizer.step()
    assert np.allclose(nested.detach().values().reshape(-1).numpy(), flat.detach().numpy())


def test_modules_hold_nested_tensors():
    for t in BOTH:
        module = t.nn.Module()
        module.weight = t.nn.Parameter(t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=t.jagged))
        module.register_buffer("seen", t.nested.nested_tensor([t.ones(2), t.ones(3)], layout=t.jagged))
        state = {name: value * 2 for name, value in module.state_dict().items()}
        module.load_state_dict(state)
        assert module.weight.values().tolist() == [2] * 5 and module.seen.values().tolist() == [2] * 5
        module.double()
        assert module.weight.dtype is module.seen.dtype is t.float64 and module.weight.values().tolist() == [2] * 5
        assert (module.weight * 2).dtype is t.float64 and module.weight.requires_grad and module.weight.is_leaf


@pytest.mark.parametrize("layout", ["jagged", "strided"])
def test_gradients_of_other_kinds_are_refused(layout):
    for t in BOTH:
        x = t.nested.nested_tensor([t.ones(2)], layout=getattr(t, layout), requires_grad=True)
        with pytest.raises(TypeError, match="grad expected to be a Tensor or None but got grad of type"):
            x.grad = 5
    with pytest.raises(RuntimeError, match=f"got a tensor of layout torch.strided .* for one of torch.{layout}"):
        dt.nested.nested_tensor([dt.ones(2)], layout=getattr(dt, layout), requires_grad=True).grad = dt.ones(2)


def test_hooks_see_nested_gradients():
    x, seen = dt.nested.nested_tensor([dt.ones(2), dt.ones(3)], layout=dt.jagged, requires_grad=True), []
    x.register_hook(lambda grad: seen.append(grad.is_nested) or grad * 2)
    (x * 3).sum().backward()
    assert seen == [True] and x.grad.values().tolist() == [6] * 5


def test_a_gradient_of_another_form_is_refused():
    x = dt.nested.nested_tensor([dt.ones(2), dt.ones(3)], layout=dt.jagged, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        x.backward(dt.ones(5))
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        x.backward(dt.nested.nested_tensor([dt.ones(2)], layout=dt.jagged))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[3, 5, 3], [1, 4], [2, 2]])
def test_attention_is_that_of_every_sample(lengths, causal):
    parts = {name: samples(dt, [(length, 2, 8) for length in lengths], seed=seed)
             for seed, name in enumerate(("query", "key", "value"))}
    for one in parts.values():
        for sample in one:
            sample.requires_grad_()
    attend = dt.nn.functional.scaled_dot_product_attention
    nested = [dt.nested.as_nested_tensor(one, layout=dt.jagged).transpose(1, 2) for one in parts.values()]
    made = attend(*nested, is_causal=causal).unbind()
    wanted = [attend(*(one.transpose(0, 1) for one in three), is_causal=causal) for three in zip(*parts.values())]
    for mine, other in zip(made, wanted):
        assert np.allclose(mine.detach().numpy(), other.detach().numpy())
    leaves = [sample for one in parts.values() for sample in one]
    pairs = (dt.autograd.grad(sum((one ** 2).sum() for one in found), leaves) for found in (made, wanted))
    assert all(np.allclose(a.numpy(), b.numpy()) for a, b in zip(*pairs))


def test_attention_agrees_with_genuine():
    found = []
    for t in BOTH:
        q = t.nested.as_nested_tensor(samples(t, [(2, 3, 8), (5, 3, 8)], "float32"), layout=t.jagged).transpose(1, 2)
        k = t.nested.as_nested_tensor(samples(t, [(4, 3, 8), (1, 3, 8)], "float32", 1), layout=t.jagged).transpose(1, 2)
        three = [(q, q, q, {}), (q, k, k, {}), (q, k, k, {"scale": 0.3})]
        found.append([t.nn.functional.scaled_dot_product_attention(*qkv, **options).values().numpy()
                      for *qkv, options in three])
        for wrong in ({"attn_mask": t.ones(1, 1)}, None):
            with pytest.raises(ValueError):
                t.nn.functional.scaled_dot_product_attention(q, k if wrong else t.ones(2, 3, 4, 8), k, **wrong or {})
    assert all(np.allclose(mine, genuine, atol=1e-6) for mine, genuine in zip(*found))


def test_a_model_of_jagged_batches_learns_as_genuine():
    losses = []
    for t in BOTH:
        draw = np.random.RandomState(0)
        table = t.tensor(draw.randn(20, 16).astype("float32")).requires_grad_()
        weights = [t.tensor(draw.randn(*shape).astype("float32") / 3).requires_grad_() for shape in
                   ((16, 16), (16, 16), (16, 16), (1, 16))]
        tokens = t.nested.nested_tensor([t.tensor(draw.randint(0, 20, size)) for size in (3, 7, 1)], layout=t.jagged)
        optimizer, found = t.optim.SGD([table, *weights], lr=0.1), []
        for _ in range(4):
            x = t.nn.functional.embedding(tokens, table)
            q, k, v = ((x @ one.T).unflatten(-1, [2, 8]).transpose(1, 2) for one in weights[:3])
            x = x + t.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = t.nn.functional.layer_norm(x, (16,))
            loss = ((x @ weights[3].T) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    assert np.allclose(*losses, rtol=1e-4)


@pytest.mark.parametrize("name", ["attention", "layer", "encoder"])
def test_transformers_take_nested_tensors_where_genuine_does(name):
    found = []
    for t in BOTH:
        attention, layer = t.nn.MultiheadAttention(8, 2, batch_first=True), t.nn.TransformerEncoderLayer(
            8, 2, 16, batch_first=True)
        module = {"attention": attention, "layer": layer, "encoder": t.nn.TransformerEncoder(layer, 2)}[name].eval()
        draw = np.random.RandomState(0)
        with t.no_grad():
            for one in module.parameters():
                one.copy_(t.tensor(draw.randn(*one.shape).astype("float32") / 3))
            x = t.nested.nested_tensor(samples(t, [(2, 8), (4, 8)], "float32"))
            made = module(x, x, x, need_weights=True) if name == "attention" else (module(x),)
            found.append([one.numpy() for one in made[0].unbind()] + [one.numpy() for one in made[1:]])
        wrong = (x, x, x) if name == "attention" else (x,)
        with pytest.raises(AssertionError, match="grad is enabled"):
            module(*wrong)
        with t.no_grad(), pytest.raises(AssertionError, match="training is enabled"):
            module.train()(*wrong)
    assert all(np.allclose(mine, genuine, atol=1e-5) for mine, genuine in zip(*found))
