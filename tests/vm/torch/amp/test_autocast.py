"""Autocast on the CPU and GradScaler beside genuine PyTorch."""
import pickle
import warnings

import pytest
import torch
import torch.nn.functional  # noqa: F401

from dragon.vm import torch as dt
from harness.subresults import each


def inputs(T):
    torch.manual_seed(0)
    return [T.tensor(torch.randn(shape).tolist()) for shape in ((3, 4), (4, 2), (3, 4), (2, 3, 4), (2, 4, 3), (4,))]


CALLS = {
    "mm": lambda T, a, b, c, x, y, v: T.mm(a, b), "matmul": lambda T, a, b, c, x, y, v: a @ b,
    "bmm": lambda T, a, b, c, x, y, v: T.bmm(x, y), "linear": lambda T, a, b, c, x, y, v: T.nn.functional.linear(a, c),
    "addmm": lambda T, a, b, c, x, y, v: T.addmm(T.zeros(3, 2), a, b),
    "baddbmm": lambda T, a, b, c, x, y, v: T.baddbmm(T.zeros(2, 3, 3), x, y),
    "conv1d": lambda T, a, b, c, x, y, v: T.nn.functional.conv1d(x, T.ones(2, 3, 2)),
    "conv2d": lambda T, a, b, c, x, y, v: T.nn.functional.conv2d(x[None], T.ones(2, 2, 2, 2)),
    "softmax": lambda T, a, b, c, x, y, v: a.bfloat16().softmax(1),
    "exp": lambda T, a, b, c, x, y, v: a.bfloat16().exp(),
    "add": lambda T, a, b, c, x, y, v: a + c.bfloat16(), "relu": lambda T, a, b, c, x, y, v: (a @ b).relu(),
    "cat": lambda T, a, b, c, x, y, v: T.cat([a, c.bfloat16()]),
    "stack": lambda T, a, b, c, x, y, v: T.stack([a, c.bfloat16()]),
    "layer_norm": lambda T, a, b, c, x, y, v: T.nn.functional.layer_norm(a.bfloat16(), (4,)),
    "cross_entropy": lambda T, a, b, c, x, y, v: T.nn.functional.cross_entropy(a @ b, T.tensor([0, 1, 0])),
    "mse_loss": lambda T, a, b, c, x, y, v: T.nn.functional.mse_loss(a.bfloat16(), c.bfloat16()),
    "sum": lambda T, a, b, c, x, y, v: (a @ b).sum(), "double": lambda T, a, b, c, x, y, v: a.double() @ b.double(),
    "sdpa": lambda T, a, b, c, x, y, v: T.nn.functional.scaled_dot_product_attention(x, x, x),
    "einsum": lambda T, a, b, c, x, y, v: T.einsum("ij,jk->ik", a, b),
    "pow": lambda T, a, b, c, x, y, v: a.bfloat16() ** 2,
    "bce": lambda T, a, b, c, x, y, v: T.nn.functional.binary_cross_entropy_with_logits(a.bfloat16(), c.sigmoid()),
    "matmul_vector": lambda T, a, b, c, x, y, v: a @ v,
}


@each("name", CALLS)
def test_policy(name):
    found = []
    for T in (torch, dt):
        with T.autocast("cpu"):
            result = CALLS[name](T, *inputs(T))
        found.append((str(result.dtype), result.float()))
    assert found[0][0] == found[1][0]
    assert torch.allclose(found[0][1], torch.tensor(found[1][1].tolist()), atol=0.1, rtol=0.05)


def test_states():
    for T in (torch, dt):
        assert not T.is_autocast_enabled("cpu") and T.get_autocast_dtype("cpu") == T.bfloat16
        with T.autocast("cpu", dtype=T.float16):
            assert T.is_autocast_enabled("cpu") and T.get_autocast_dtype("cpu") == T.float16
            with T.amp.autocast("cpu", enabled=False):
                assert not T.is_autocast_enabled("cpu")
                assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float32
            assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float16
        assert not T.is_autocast_enabled("cpu") and T.get_autocast_dtype("cpu") == T.bfloat16
        assert T.amp.is_autocast_available("cpu") and T.is_autocast_cache_enabled()
        decorated = T.autocast("cpu")(lambda: (T.ones(2, 2) @ T.ones(2, 2)).dtype)
        assert decorated() == T.bfloat16
        with pytest.raises(KeyError), T.autocast("cpu"):
            raise KeyError
        assert not T.is_autocast_enabled("cpu")


def test_refusals():
    for T in (torch, dt):
        with pytest.raises(RuntimeError):
            T.autocast("nothing")
        with pytest.raises(ValueError):
            T.autocast(3)
        with pytest.raises(TypeError):
            T.autocast("cpu")(3)
        with pytest.warns(UserWarning):
            with T.autocast("cpu", dtype=T.float64):
                assert not T.is_autocast_enabled("cpu")


def test_gradients_have_the_parameters_dtype():
    found = []
    for T in (torch, dt):
        a, b, *_ = inputs(T)
        a.requires_grad_(), b.requires_grad_()
        with T.autocast("cpu"):
            loss = ((a @ b).relu() @ b.permute(1, 0)).float().pow(2).mean()
        loss.backward()
        assert a.grad.dtype == T.float32
        found.append(a.grad.tolist())
    assert torch.allclose(torch.tensor(found[0]), torch.tensor(found[1]), atol=0.1, rtol=0.05)


def test_custom_functions():
    for T in (torch, dt):
        seen = []

        class Product(T.autograd.Function):
            @staticmethod
            @T.amp.custom_fwd(device_type="cpu", cast_inputs=T.float32)
            def forward(ctx, x):
                seen.append((str(x.dtype), T.is_autocast_enabled("cpu")))
                return x * 2

            @staticmethod
            @T.amp.custom_bwd(device_type="cpu")
            def backward(ctx, dy):
                seen.append(T.is_autocast_enabled("cpu"))
                return dy * 2
        x = T.ones(2, dtype=T.bfloat16, requires_grad=True)
        with T.autocast("cpu"):
            Product.apply(x).sum().backward()
        assert seen == [("torch.float32", False), False]


def scaled_training(T, spoil=()):
    params = [T.ones(3, requires_grad=True)]
    optimizer = T.optim.SGD(params, lr=0.1)
    scaler = T.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = []
    for step in range(6):
        optimizer.zero_grad()
        loss = (params[0] ** 2).sum() * (float("inf") if step in spoil else 1.0)
        scaled = scaler.scale([loss, (loss,)])
        scaled[0].backward()
        if step % 2:
            scaler.unscale_(optimizer)
            seen.append(params[0].grad.tolist())
        scaler.step(optimizer)
        scaler.update()
        seen.append((params[0].tolist(), scaler.get_scale(), scaler.state_dict()))
    return seen


@pytest.mark.parametrize("spoil", [(), (2,), (0, 4)], ids=str)
def test_scaler(spoil):
    assert repr(scaled_training(dt, spoil)) == repr(scaled_training(torch, spoil))


def test_scaler_states():
    for T in (torch, dt):
        scaler = T.amp.GradScaler("cpu", init_scale=4.0)
        scaler.scale(T.ones(1))
        scaler.update(2.0)
        other = T.amp.GradScaler("cpu")
        other.load_state_dict(scaler.state_dict())
        assert other.get_scale() == 2.0 and pickle.loads(pickle.dumps(other)).get_scale() == 2.0
        assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (2.0, 0.5, 2000)
        other.set_growth_factor(3.0), other.set_backoff_factor(0.1), other.set_growth_interval(5)
        assert other.state_dict() == {"scale": 2.0, "growth_factor": 3.0, "backoff_factor": 0.1, "growth_interval": 5,
                                      "_growth_tracker": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            disabled = T.amp.GradScaler("cuda")
        assert not disabled.is_enabled() and disabled.state_dict() == {} and disabled.scale(3) == 3


def unscale_twice(T, scaler, optimizer):
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def step_twice(T, scaler, optimizer):
    scaler.step(optimizer)
    scaler.step(optimizer)


@pytest.mark.parametrize("call", [unscale_twice, step_twice, lambda T, s, o: s.step(o, closure=lambda: 1),
                                  lambda T, s, o: s.update(), lambda T, s, o: T.amp.GradScaler("cpu").step(o),
                                  lambda T, s, o: s.load_state_dict({}),
                                  lambda T, s, o: T.amp.GradScaler("cpu", 1, 0.5)])
def test_scaler_errors(call):
    kinds = []
    for T in (torch, dt):
        param = T.ones(1, requires_grad=True)
        scaler, optimizer = T.amp.GradScaler("cpu"), T.optim.SGD([param])
        scaler.scale(param.sum()).backward()
        with pytest.raises(Exception) as caught:
            call(T, scaler, optimizer)
        kinds.append(type(caught.value))
    assert kinds[0] is kinds[1]
