"""Quantized tensors beside PyTorch's: made, printed, moved, compared and in files."""
import copy
import io
import pickle

import numpy as np
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

BOTH = dt, torch
# `q` and `i` have one scale, `p` and `f` one for each row; `x` is what they were made of.
ASKED = [
    "q", "p", "f", "i", "n", "q.dtype", "q.int_repr()", "p.int_repr()", "n.int_repr()", "q.dequantize()",
    "p.dequantize()", "f.dequantize()", "n.dequantize()", "i.dequantize()", "q.q_scale()", "q.q_zero_point()",
    "p.q_per_channel_scales()", "p.q_per_channel_zero_points()", "f.q_per_channel_zero_points()",
    "p.q_per_channel_axis()", "q.qscheme()", "p.qscheme()", "f.qscheme()", "q.is_quantized", "x.is_quantized",
    "q.shape", "q.stride()", "q.layout", "q.q_per_channel_axis()", "p.q_scale()", "x.q_scale()", "x.int_repr()",
    "x.qscheme()", "x.dequantize()", "q.nbytes", "q.numel()", "q.element_size()", "q.type()", "q.is_floating_point()",
    "q.is_signed()", "p.is_signed()", "q.requires_grad", "q.device", "str(q)", "q.requires_grad_()", "q.tolist()",
    "q.item()", "q[0, 1].item()", "q.numpy()", "t.is_tensor(q)", "len(q)", "list(q)", "q.dim()", "q.is_contiguous()",
    "q.t().is_contiguous()"]
MOVED = [
    "q[0]", "q[0, 1]", "q[:, 1:]", "q[t.tensor([0, 0])]", "q[None]", "p[0]", "p[:, 0]", "q.reshape(3, 2)",
    "q.view(-1)", "q.t()", "p.t()", "p.reshape(-1)", "q.flatten()", "q.permute(1, 0)", "q.transpose(0, 1)",
    "q.unsqueeze(0)", "p.unsqueeze(0)", "p.unsqueeze(-1)", "q.squeeze()", "q.contiguous()", "p.contiguous()",
    "q.clone()", "p.clone()", "q.detach()", "q.cpu()", "p.to('cpu')", "q.to(t.float32)", "q.float()", "q.int()",
    "q.unbind()", "q.chunk(2, 1)", "q.split(1)", "q.expand(2, 2, 3)", "q.index_select(0, t.tensor([0]))",
    "p.index_select(0, t.tensor([0]))", "t.cat([q, q])", "t.cat([q, o])", "t.cat([q, i])", "t.cat([p, p])",
    "t.stack([q, q])", "p.view(-1)", "p.permute(1, 0)"]
COMPUTED = [
    "t.equal(q, q)", "t.equal(q, q.clone())", "t.equal(q, o)", "t.equal(p, p)", "q.equal(p)", "q == q", "q > 1",
    "q != o", "q.clone().copy_(x * 2)", "q.clone().copy_(q)", "q.clone().copy_(o)", "q.clone().copy_(p)",
    "x.clone().copy_(q)", "q.clone().copy_(x.double())", "q.clone().fill_(1)", "q.max()", "q.min()", "q.mean()",
    "q.sum()", "q + q", "q * 2", "t.relu(q)", "t.nn.functional.relu(q)", "q.sort()", "q.clamp(0, 1)", "t.topk(q, 1)",
    "t.allclose(q, q)", "t.max_pool2d(q.reshape(1, 1, 2, 3), 2)",
    "t.nn.functional.interpolate(q.reshape(1, 1, 2, 3), scale_factor=2)", "t.zeros_like(q)", "t.empty_like(q).shape",
    "t.dequantize(q)", "t.dequantize([q, p])", "q.masked_select(x > 0)"]
MADE = [
    "t.quantize_per_tensor(x, 0.0, 0, t.qint8)", "t.quantize_per_tensor(x, 0.1, 300, t.quint8)",
    "t.quantize_per_tensor(x, 0.1, -129, t.qint8)", "t.quantize_per_tensor(x, 0.1, 0, t.int8)",
    "t.quantize_per_tensor(x.int(), 0.1, 0, t.qint8)", "t.quantize_per_tensor(x.double(), 0.1, 0, t.qint8)",
    "t.quantize_per_tensor(q, 0.1, 0, t.qint8)", "t.quantize_per_tensor(x, -0.1, 0, t.qint8)",
    "t.quantize_per_tensor(t.tensor([float('nan'), float('inf'), -float('inf')] * 8), 0.1, 3, t.quint8).int_repr()",
    "t.quantize_per_tensor(t.tensor([0.05, 0.15, 0.25, 0.35, -0.05, -0.15]), 0.1, 0, t.qint8).int_repr()",
    "t.quantize_per_tensor(x, t.tensor(0.1), t.tensor(10), t.quint8)",
    "t.quantize_per_tensor(x.half(), 1, 0, t.qint8)",
    "t.quantize_per_tensor([x, x], t.tensor([0.1, 0.2]), t.tensor([10, 1]), t.quint8)",
    "t.quantize_per_tensor(t.zeros(0), 0.1, 0, t.qint8)", "t.quantize_per_tensor(t.tensor(1.0), 0.1, 0, t.qint8)",
    "t.quantize_per_tensor(t.zeros(0, 3), 0.1, 0, t.qint8)", "t.quantize_per_tensor(x.t(), 0.1, 0, t.qint8)",
    "t.quantize_per_channel(x, t.tensor([0.1]), t.tensor([0]), 0, t.qint8)",
    "t.quantize_per_channel(x, t.tensor([0.1, 0.2]), t.tensor([0, 1]), 5, t.qint8)",
    "t.quantize_per_channel(x, t.tensor([0.1, 0.2, 0.3]), t.tensor([0, 1, 2]), 1, t.qint8)",
    "t.quantize_per_tensor_dynamic(x, t.qint8, False)", "t.quantize_per_tensor_dynamic(x, t.quint8, True)",
    "t.quantize_per_tensor_dynamic(x * 0, t.quint8, False)",
    "t.quantize_per_tensor_dynamic(x.abs(), t.quint8, False)",
    "t.quantize_per_tensor_dynamic(-x.abs(), t.quint8, False)",
    "t.quantize_per_tensor_dynamic(x * 1e-9, t.quint8, False)",
    "t.quantize_per_tensor_dynamic(x * float('nan'), t.quint8, False)",
    "t.quantize_per_tensor_dynamic(x / 0, t.qint8, False)", "t.quantize_per_tensor(x, 0.1, 1.5, t.quint8)",
    "t.quantize_per_tensor(x * float('nan'), 0.1, 1, t.qint32).int_repr()",
    "t.quantize_per_tensor(x * float('nan'), 0.1, 1, t.qint8).int_repr()",
    "t._make_per_tensor_quantized_tensor(t.tensor([1, 2], dtype=t.uint8), 0.5, 1)",
    "t._make_per_channel_quantized_tensor(t.tensor([[1], [2]], dtype=t.int8), t.tensor([0.5, 1]), t.tensor([0, 0]), 0)",
    "t._make_per_tensor_quantized_tensor(x, 0.5, 1)",
    "t._empty_affine_quantized([2, 3], scale=0.1, zero_point=2, dtype=t.quint8).q_zero_point()",
    "t._empty_per_channel_affine_quantized([2, 3], scales=t.tensor([0.1, 0.2]), zero_points=t.tensor([0, 0]), "
    "axis=0, dtype=t.qint8).shape"]
FAKED = [
    "t.fake_quantize_per_tensor_affine(x, 0.1, 10, 0, 20)", "t.fake_quantize_per_tensor_affine(x, 0.1, 10, 20, 0)",
    "t.fake_quantize_per_tensor_affine(x, 0.1, 30, 0, 20)",
    "t.fake_quantize_per_tensor_affine(x.int(), 0.1, 10, 0, 20)",
    "t.fake_quantize_per_tensor_affine(x, t.tensor(0.1), t.tensor(10), 0, 20)",
    "t.fake_quantize_per_tensor_affine(x.double(), 0.1, 10, 0, 20)",
    "t.fake_quantize_per_tensor_affine(t.tensor([float('nan'), float('inf')]), 0.1, 10, 0, 20)",
    "t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.2]), t.tensor([0, 1], dtype=t.int32), 0, -128, 127)",
    "t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.2, 0.3]), t.tensor([0.0, 1, 2]), 1, -128, 127)",
    "t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.2]), t.tensor([0, 1]), 0, -128, 127)",
    "t.fake_quantize_per_channel_affine(x, t.tensor([0.1]), t.tensor([0], dtype=t.int32), 0, -128, 127)",
    "t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.2]), t.tensor([0, 200], dtype=t.int32), 0, -128, 127)"]


def scope(t):
    x = t.tensor([[-1.3, 0.2, 0.55], [3.0, -0.04, 100.0]])
    scales, points = t.tensor([0.1, 0.5]), t.tensor([0, 3])
    return {"t": t, "x": x, "q": t.quantize_per_tensor(x, 0.1, 10, t.quint8),
            "o": t.quantize_per_tensor(x, 0.3, 2, t.quint8), "i": t.quantize_per_tensor(x, 0.1, 10, t.qint32),
            "p": t.quantize_per_channel(x, scales, points, 0, t.qint8),
            "f": t.quantize_per_channel(x, scales, points.float(), 0, t.quint8),
            "n": t.quantize_per_channel(t.arange(8.).reshape(2, 4) / 4, scales, points.float(), 0, t.quint4x2)}


def outcome(t, text):
    try:
        return repr(eval(text, scope(t))).replace("dragon.vm.", "")
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        return [kind for kind in (IndexError, ValueError, TypeError, RuntimeError) if isinstance(error, kind)]


@each("text", ASKED + MOVED + COMPUTED + MADE + FAKED)
def test_results_agree_with_genuine(text):
    mine, genuine = (outcome(t, text) for t in BOTH)
    assert mine == genuine or isinstance(genuine, list) and isinstance(mine, list) and set(genuine) <= set(mine)


def test_a_device_is_heard():
    told = {"dtype": dt.quint8, "device": "meta"}
    one = dt._empty_affine_quantized([2], scale=0.1, zero_point=2, **told)
    each = dt._empty_per_channel_affine_quantized([2], scales=dt.ones(2), zero_points=dt.zeros(2).int(), axis=0, **told)
    assert one.device.type == each.device.type == "meta"


def test_writing():
    for t in BOTH:
        q = scope(t)["q"]
        q[0] = 1.0
        assert q.int_repr()[0].tolist() == [20, 20, 20]
        q[1, 0] = t.tensor(0.52)
        assert q.int_repr()[1].tolist() == [15, 10, 255]


@pytest.mark.parametrize("name", ["q", "i", "p", "f"])
def test_files_go_both_ways(name):
    for writer, reader in ((dt, torch), (torch, dt), (dt, dt)):
        file = io.BytesIO()
        writer.save({"x": scope(writer)[name]}, file)
        file.seek(0)
        assert repr(reader.load(file)["x"]) == repr(scope(reader)[name])


def test_a_part_of_a_tensor_in_a_file():
    file = io.BytesIO()
    torch.save(scope(torch)["q"].t()[1:], file)
    file.seek(0)
    assert dt.load(file).int_repr().tolist() == [[12, 10], [16, 255]]


def test_files_with_wrong_channels_are_refused():
    from dragon.vm.torch._utils import _rebuild_qtensor
    storage = scope(dt)["q"].storage()
    for told in ((dt.per_tensor_affine, 0.1, 300), (dt.per_channel_affine, dt.tensor([0.1]), dt.tensor([0]), 0),
                 (dt.per_channel_affine, dt.tensor([0.1]), dt.tensor([0]), 7), (dt.per_tensor_symmetric, 0.1, 0)):
        with pytest.raises(RuntimeError, match="load: got"):
            _rebuild_qtensor(storage, 0, (2, 3), (3, 1), told, False, {})


@pytest.mark.parametrize("name", ["q", "i", "p", "f"])
def test_copies(name):
    x = scope(dt)[name]
    for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.clone()):
        assert made.is_quantized and repr(made) == repr(x)
    changed = copy.deepcopy(x)
    changed.copy_(dt.zeros(2, 3))
    assert not dt.equal(changed, x)


def test_modules_hold_quantized_buffers():
    for t in BOTH:
        module = t.nn.Module()
        module.register_buffer("weight", scope(t)["q"])
        state = {name: value.clone() for name, value in module.state_dict().items()}
        module.weight.fill_(0)
        module.load_state_dict(state)
        assert module.weight.int_repr().tolist() == [[0, 12, 16], [40, 10, 255]]


def test_gradients_pass_fakes_within_their_bounds():
    for t in BOTH:
        x = scope(t)["x"].requires_grad_()
        t.fake_quantize_per_tensor_affine(x, 0.1, 10, 0, 20).sum().backward()
        assert x.grad.tolist() == [[0, 1, 1], [0, 1, 0]]


def test_many_numbers_round_alike():
    numbers = (np.random.RandomState(0).randn(5000) * 20).astype("float32")
    for scale, point in ((0.1, 3), (0.37, 0), (1 / 3, 100), (1e-3, 7)):
        found = [t.quantize_per_tensor(t.tensor(numbers), scale, point, t.quint8) for t in BOTH]
        assert np.array_equal(*(one.int_repr().numpy() for one in found))
        assert np.array_equal(*(one.dequantize().numpy() for one in found))
