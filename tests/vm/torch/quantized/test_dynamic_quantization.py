"""Models of 8-bit weights, observers and rounding modules beside genuine PyTorch."""
import copy
import importlib
import io

import numpy
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = ["LSTM", "GRU"]
FORMS = [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "num_layers": 2, "dropout": 0.3}]
SPREADS = ((0.3, 1, 0.2), (0.9, 3, -1), (1.7, 0.5, 4))


def tool(T):
    return importlib.import_module(f"{T.__name__}.ao.quantization")


def numbers(T, *shape, step=0.9):
    """Return waves: the same numbers on both sides, none halfway between two integers."""
    return T.tensor(numpy.sin(numpy.arange(numpy.prod(shape)) * step).reshape(shape), dtype=T.float32)


def filled(T, model):
    for place, weight in enumerate(model.parameters()):
        weight.data = numbers(T, *weight.shape, step=0.7 + place)
    return model


def leaves(result):
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [] if result is None else [numpy.asarray(result.detach())]


def close(ours, theirs):
    ours, theirs = leaves(ours), leaves(theirs)
    assert len(ours) == len(theirs) and ours
    for one, other in zip(ours, theirs):
        assert one.shape == other.shape
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def linear(T):
    return filled(T, T.nn.Sequential(T.nn.Linear(4, 3), T.nn.ReLU(), T.nn.Linear(3, 2, bias=False)))


SPECS = [
    lambda T: ({T.nn.Linear}, T.qint8), lambda T: (None, T.qint8), lambda T: ({T.nn.Linear}, T.float16),
    lambda T: ({"0"}, T.qint8), lambda T: ({"2": tool(T).default_dynamic_qconfig}, T.qint8),
    lambda T: ({T.nn.Linear: tool(T).per_channel_dynamic_qconfig}, T.qint8)]


@pytest.mark.parametrize("spec", SPECS)
def test_linear(spec):
    made = []
    for T in (dt, torch):
        which, dtype = spec(T)
        model = tool(T).quantize_dynamic(linear(T), which, dtype=dtype)
        made.append((model, model(numbers(T, 2, 4))))
    (ours, result), (theirs, expected) = made
    close(result, expected)
    assert str(ours) == str(theirs) and list(ours.state_dict()) == list(theirs.state_dict()) and not ours.training
    file = io.BytesIO()
    dt.save(ours.state_dict(), file)
    file.seek(0)
    fresh = dt.nn.Sequential(dt.nn.Linear(4, 3), dt.nn.ReLU(), dt.nn.Linear(3, 2, bias=False))
    again = tool(dt).quantize_dynamic(fresh, spec(dt)[0], dtype=spec(dt)[1])
    again.load_state_dict(dt.load(file, weights_only=False))
    for other in (again, copy.deepcopy(ours)):
        assert other(numbers(dt, 2, 4)).tolist() == result.tolist()


def test_model_stays():
    model = linear(dt)
    made = tool(dt).quantize_dynamic(model, {dt.nn.Linear})
    assert type(model[0]) is dt.nn.Linear and model.training and made is not model and not hasattr(made[0], "qconfig")
    assert tool(dt).quantize_dynamic(model, {dt.nn.Linear}, inplace=True) is model
    assert type(model[0]) is dt.ao.nn.quantized.dynamic.Linear and model[0].weight().dtype is dt.qint8
    assert model(dt.zeros(0, 4)).shape == (0, 2) and model(dt.zeros(2, 3, 4)).shape == (2, 3, 2)


def test_hooks_stay():
    heard, model = [], linear(dt)
    model[0].register_forward_hook(lambda module, given, result: heard.append(type(module).__name__))
    tool(dt).quantize_dynamic(model)(numbers(dt, 2, 4))
    assert heard == ["Linear"] and type(model[0]) is dt.nn.Linear


@each("dtype", ["qint8", "float16"])
@each("form", FORMS)
@each("kind", KINDS)
def test_recurrent(kind, form, dtype):
    made = []
    for T in (dt, torch):
        model = T.nn.Sequential(filled(T, getattr(T.nn, kind)(3, 4, **form)))
        model = tool(T).quantize_dynamic(model, dtype=getattr(T, dtype))
        x = numbers(T, 2, 2, 3)
        first, state = model[0](x)
        packed = T.nn.utils.rnn.pack_padded_sequence(numbers(T, 5, 5, 3), [3, 5, 1, 5, 2], enforce_sorted=False,
                                                     batch_first=form.get("batch_first", False))
        results, last = model[0](packed)
        made.append((str(model), [first, state, model[0](x, state), results.data, last]))
    assert made[0][0] == made[1][0]
    close(made[0][1], made[1][1])


@pytest.mark.parametrize("kind, form", [("LSTMCell", {}), ("GRUCell", {"bias": True}), ("RNNCell", {}),
                                        ("RNNCell", {"nonlinearity": "relu"})])
def test_cells(kind, form):
    made = []
    for T in (dt, torch):
        cell = tool(T).quantize_dynamic(T.nn.Sequential(filled(T, getattr(T.nn, kind)(3, 4, **form))))[0]
        made.append((repr(cell), cell(numbers(T, 2, 3))))
    assert made[0][0] == made[1][0]
    close(made[0][1], made[1][1])


OBSERVERS = [
    lambda T, Q: Q.MinMaxObserver(), lambda T, Q: Q.MinMaxObserver(reduce_range=True),
    lambda T, Q: Q.MinMaxObserver(dtype=T.qint8, qscheme=T.per_tensor_symmetric),
    lambda T, Q: Q.MinMaxObserver(quant_min=0, quant_max=15), lambda T, Q: Q.MinMaxObserver(dtype=T.int16),
    lambda T, Q: Q.MinMaxObserver(qscheme=T.per_tensor_symmetric), lambda T, Q: Q.MovingAverageMinMaxObserver(),
    lambda T, Q: Q.MovingAverageMinMaxObserver(averaging_constant=0.5, dtype=T.qint8),
    lambda T, Q: Q.PerChannelMinMaxObserver(ch_axis=1, dtype=T.qint8, qscheme=T.per_channel_symmetric),
    lambda T, Q: Q.PerChannelMinMaxObserver(ch_axis=2, qscheme=T.per_channel_affine_float_qparams),
    lambda T, Q: Q.MovingAveragePerChannelMinMaxObserver(ch_axis=1, averaging_constant=0.3),
    lambda T, Q: Q.default_observer(), lambda T, Q: Q.default_weight_observer(),
    lambda T, Q: Q.default_per_channel_weight_observer()]


@each("make", OBSERVERS)
def test_observers(make):
    made = []
    for T in (dt, torch):
        observer = make(T, tool(T))
        found = [observer.calculate_qparams()]
        for step, factor, shift in SPREADS:
            x = numbers(T, 2, 3, 4, step=step) * factor + shift
            assert observer(x) is x
            found.append(observer.calculate_qparams())
        observer(T.zeros(0))
        again = make(T, tool(T))
        again.load_state_dict(observer.state_dict())
        found.append(again.calculate_qparams())
        made.append((found, list(observer.state_dict()), observer.quant_min, observer.quant_max, repr(observer)[:16]))
    close(made[0][0], made[1][0])
    assert made[0][1:] == made[1][1:]


ROUNDING = ["default_fake_quant", "default_weight_fake_quant", "default_per_channel_weight_fake_quant",
            "default_fused_act_fake_quant", "default_fused_wt_fake_quant", "default_fused_per_channel_wt_fake_quant"]


@pytest.mark.parametrize("name", ROUNDING)
def test_rounding(name):
    made = []
    for T in (dt, torch):
        module, found = getattr(tool(T), name)(), []
        for step, factor, shift in SPREADS:
            x = (numbers(T, 2, 3, 4, step=step) * factor + shift).requires_grad_()
            y = module(x)
            y.sum().backward()
            found += [y, x.grad, module.scale, module.zero_point]
        module.apply(tool(T).disable_observer)
        found.append(module(x * 9))
        module.apply(tool(T).disable_fake_quant)
        assert module(x).tolist() == x.tolist()
        made.append((found, list(module.state_dict())))
    close(made[0][0], made[1][0])
    assert made[0][1] == made[1][1]


REFUSED = [
    lambda T, Q: Q.quantize_dynamic(linear(T), dtype=T.qint32),
    lambda T, Q: Q.quantize_dynamic(linear(T), {T.nn.Linear}, dtype=T.qint32),
    lambda T, Q: T.ao.nn.quantized.dynamic.Linear.from_float(T.nn.Linear(1, 1)),
    lambda T, Q: T.ao.nn.quantized.dynamic.LSTM(2, 3)(T.ones(2, 2)),
    lambda T, Q: T.ao.nn.quantized.dynamic.LSTM(2, 3, dropout=2),
    lambda T, Q: Q.quantize_dynamic(linear(T))(T.full((1, 4), float("nan"))),
    lambda T, Q: Q.QConfig(Q.MinMaxObserver(), Q.MinMaxObserver),
    lambda T, Q: Q.MinMaxObserver(quant_min=3, quant_max=5), lambda T, Q: Q.FakeQuantize(quant_min=-1, quant_max=5),
    lambda T, Q: Q.FakeQuantize(quant_min=5, quant_max=1), lambda T, Q: Q.PlaceholderObserver().calculate_qparams(),
    lambda T, Q: Q.FusedMovingAvgObsFakeQuantize(observer=Q.MinMaxObserver)]


@each("call", REFUSED)
def test_refusals(call):
    errors = []
    for T in (dt, torch):
        with pytest.raises(Exception) as caught:
            call(T, tool(T))
        errors.append(caught.value)
    assert isinstance(errors[0], type(errors[1])) and str(errors[1]) in str(errors[0])


def test_missing_by_name():
    model = dt.nn.Sequential(dt.nn.Embedding(3, 2))
    for call in (lambda Q: Q.prepare(model), lambda Q: Q.convert(model), lambda Q: Q.get_default_qconfig(),
                 lambda Q: Q.quantize_dynamic(model, dtype=dt.quint8)):
        with pytest.raises(NotImplementedError):
            call(tool(dt))
    assert dt.quantization.quantize_dynamic is tool(dt).quantize_dynamic
    assert (dt.iinfo(dt.quint8).max, dt.iinfo(dt.qint8).min) == (torch.iinfo(torch.quint8).max, -128)
