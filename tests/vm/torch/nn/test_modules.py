"""Every layer beside PyTorch's: same seed, same parameters; same text, names, results and gradients."""
import copy
import warnings

import numpy
import pytest

from dragon.vm import torch as mine
from harness.subresults import each

torch = pytest.importorskip("torch")
F32 = "float32"


def ints(high, *shape):
    """Ask for integers below a bound."""
    return ("ints", high, shape)


def probabilities(*shape):
    """Ask for numbers between 0 and 1."""
    return ("probabilities", None, shape)


def signs(*shape):
    """Ask for 1 and -1."""
    return ("signs", None, shape)


def numbers_of(wanted, seed):
    """Return the array that a row of the table asks for."""
    random = numpy.random.default_rng(seed)
    if isinstance(wanted, list):
        return numpy.array(wanted)
    if wanted and isinstance(wanted[0], str):
        kind, high, shape = wanted
        if kind == "ints":
            return random.integers(0, high, shape)
        if kind == "signs":
            return random.choice([-1.0, 1.0], shape).astype(F32)
        return random.uniform(0.05, 0.95, shape).astype(F32)
    return random.standard_normal(wanted).astype(F32)


def as_inputs(guest, wanted):
    """Return a row's inputs as tensors; floating ones want gradients."""
    made = []
    for place, item in enumerate(wanted):
        tensor = guest.tensor(numbers_of(item, place))
        made.append(tensor.requires_grad_() if tensor.is_floating_point() and item[0] != "signs" else tensor)
    return made


def tensors_of(result):
    """Yield the tensors of a result, which may be nested."""
    if isinstance(result, (tuple, list)):
        for item in result:
            yield from tensors_of(item)
    elif result is not None and hasattr(result, "requires_grad"):
        yield result


def same(ours, theirs, what, rtol=1e-4, atol=2e-5):
    """Assert that two tensors hold nearly the same."""
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert str(ours.dtype) == str(theirs.dtype), what
    numpy.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol, atol, err_msg=what)


def run(guest, module, wanted):
    """Return (outputs, gradients of inputs, gradients of parameters) with weights that tell elements apart."""
    inputs = as_inputs(guest, wanted)
    guest.manual_seed(7)
    outputs = list(tensors_of(module(*inputs)))
    total = 0
    for output in outputs:
        if output.requires_grad:
            weights = numpy.cos(numpy.arange(output.numel(), dtype=F32)).reshape(tuple(output.shape))
            total = total + (output * guest.tensor(weights)).sum()
    if not isinstance(total, int):
        total.backward()
    return outputs, [value.grad for value in inputs], {name: value.grad for name, value in module.named_parameters()}


def row(name, *wanted, args=(), **kwargs):
    """Return a row of the table: the class, its arguments, what it is called with."""
    label = f"{name}-{'-'.join(map(str, args))}-{'-'.join(f'{key}={value}' for key, value in kwargs.items())}"
    return pytest.param(name, args, kwargs, wanted, id=label.strip("-"))


IMAGE, VOLUME, LINE = (2, 4, 7, 6), (2, 4, 5, 4, 6), (2, 4, 9)
ROWS = [
    row("Identity", (2, 3)),
    row("Linear", (3, 4), args=(4, 5)),
    row("Linear", (2, 3, 4), args=(4, 5, False)),
    row("Linear", (2, 3), args=(3, 4), dtype="float64"),
    row("Bilinear", (3, 4), (3, 5), args=(4, 5, 2)),
    *[row(name, (3, 4)) for name in (
        "ReLU", "ReLU6", "Sigmoid", "Hardsigmoid", "Tanh", "SiLU", "Mish", "Hardswish", "ELU", "CELU", "SELU", "GLU",
        "GELU", "Hardshrink", "LeakyReLU", "LogSigmoid", "Softplus", "Softshrink", "PReLU", "Softsign", "Tanhshrink",
        "Hardtanh", "RReLU", "Dropout", "AlphaDropout")],
    row("Threshold", (3, 4), args=(0.1, 2.0)),
    row("ReLU6", (3, 4), inplace=False),
    row("Hardtanh", (3, 4), args=(-0.5, 0.5)),
    row("ELU", (3, 4), alpha=0.5),
    row("CELU", (3, 4), alpha=0.7),
    row("GELU", (3, 4), approximate="tanh"),
    row("GLU", (4, 3), dim=0),
    row("LeakyReLU", (3, 4), args=(0.2,)),
    row("Softplus", (3, 4), beta=2, threshold=1),
    row("PReLU", (3, 4, 2), num_parameters=4, init=0.1),
    row("RReLU", (3, 4), lower=0.2, upper=0.25),
    *[row(name, (3, 4), dim=1) for name in ("Softmin", "Softmax", "LogSoftmax")],
    row("Softmax2d", (2, 3, 4, 4)),
    row("Dropout", (3, 4), args=(0.3,)),
    row("Dropout1d", LINE), row("Dropout2d", IMAGE), row("Dropout3d", VOLUME), row("FeatureAlphaDropout", IMAGE),
    row("Conv1d", LINE, args=(4, 6, 3)),
    row("Conv1d", LINE, args=(4, 6, 3), padding="same", dilation=2, bias=False),
    row("Conv2d", IMAGE, args=(4, 6, 3)),
    row("Conv2d", IMAGE, args=(4, 6, (3, 2)), stride=2, padding=(1, 2), dilation=(2, 1), groups=2, bias=False),
    row("Conv2d", IMAGE, args=(4, 6, 3), padding=1, padding_mode="reflect"),
    row("Conv2d", IMAGE, args=(4, 6, 3), padding="same", padding_mode="circular"),
    row("Conv2d", (4, 7, 6), args=(4, 6, 3), padding="valid"),
    row("Conv3d", VOLUME, args=(4, 2, 3)),
    row("Conv3d", VOLUME, args=(4, 2, 2), padding=1, padding_mode="replicate"),
    row("ConvTranspose1d", LINE, args=(4, 6, 3)),
    row("ConvTranspose2d", IMAGE, args=(4, 6, 3), stride=2, padding=1, output_padding=1, groups=2),
    row("ConvTranspose2d", IMAGE, args=(4, 6, 3), stride=2, bias=False, dilation=2),
    row("ConvTranspose3d", VOLUME, args=(4, 2, 2), stride=2),
    row("BatchNorm1d", (5, 3), args=(3,)),
    row("BatchNorm1d", (5, 3, 4), args=(3,), momentum=None),
    row("BatchNorm2d", IMAGE, args=(4,)),
    row("BatchNorm2d", IMAGE, args=(4,), eps=1e-3, momentum=0.3, affine=False),
    row("BatchNorm2d", IMAGE, args=(4,), track_running_stats=False),
    row("BatchNorm2d", IMAGE, args=(4,), bias=False),
    row("BatchNorm3d", VOLUME, args=(4,)),
    row("InstanceNorm1d", LINE, args=(4,)),
    row("InstanceNorm2d", IMAGE, args=(4,), affine=True, track_running_stats=True),
    row("InstanceNorm2d", (4, 7, 6), args=(4,), affine=True),
    row("InstanceNorm3d", VOLUME, args=(4,)),
    row("LayerNorm", (2, 3, 4), args=(4,)),
    row("LayerNorm", (2, 3, 4), args=((3, 4),), eps=1e-3, bias=False),
    row("LayerNorm", (2, 3, 4), args=([4],), elementwise_affine=False),
    row("GroupNorm", IMAGE, args=(2, 4)),
    row("GroupNorm", IMAGE, args=(2, 4), affine=False),
    row("GroupNorm", IMAGE, args=(2, 4), bias=False),
    row("RMSNorm", (2, 3, 4), args=(4,)),
    row("RMSNorm", (2, 3, 4), args=((3, 4),), eps=1e-3, elementwise_affine=False),
    row("LocalResponseNorm", IMAGE, args=(2,)),
    row("L1Loss", (3, 4), (3, 4)), row("MSELoss", (3, 4), (3, 4)), row("MSELoss", (3, 4), (3, 4), reduction="sum"),
    row("SmoothL1Loss", (3, 4), (3, 4), beta=0.5), row("HuberLoss", (3, 4), (3, 4), delta=0.5),
    row("NLLLoss", (3, 4), ints(4, 3)), row("NLLLoss2d", (2, 3, 4, 4), ints(3, 2, 4, 4)),
    row("PoissonNLLLoss", (3, 4), probabilities(3, 4), full=True),
    row("GaussianNLLLoss", (3, 4), (3, 4), probabilities(3, 4), full=True),
    row("KLDivLoss", (3, 4), probabilities(3, 4), reduction="batchmean"),
    row("KLDivLoss", (3, 4), (3, 4), reduction="sum", log_target=True),
    row("BCELoss", probabilities(3, 4), probabilities(3, 4)),
    row("BCEWithLogitsLoss", (3, 4), probabilities(3, 4), reduction="none"),
    row("HingeEmbeddingLoss", (3, 4), signs(3, 4)), row("MultiLabelMarginLoss", (2, 4), [[3, 0, -1, 1], [1, 2, 3, -1]]),
    row("SoftMarginLoss", (3, 4), signs(3, 4)), row("MultiLabelSoftMarginLoss", (3, 4), probabilities(3, 4)),
    row("CrossEntropyLoss", (3, 4), ints(4, 3)),
    row("CrossEntropyLoss", (3, 4), ints(4, 3), label_smoothing=0.1, reduction="none", ignore_index=1),
    row("CrossEntropyLoss", (2, 4, 5), ints(4, 2, 5), reduction="sum"),
    row("LinearCrossEntropyLoss", (5, 4), ints(6, 5), args=(4, 6)),
    row("LinearCrossEntropyLoss", (5, 4), ints(6, 5, 2), args=(4, 6), out_features=(2,), bias=True, reduction="sum"),
    row("CosineEmbeddingLoss", (3, 4), (3, 4), signs(3), margin=0.1),
    row("MarginRankingLoss", (3,), (3,), signs(3), margin=0.5),
    row("MultiMarginLoss", (3, 4), ints(4, 3), p=2),
    row("TripletMarginLoss", (3, 4), (3, 4), (3, 4), swap=True),
    row("TripletMarginWithDistanceLoss", (3, 4), (3, 4), (3, 4)),
    row("CTCLoss", (6, 2, 4), ints(3, 2, 3), [6, 5], [2, 3], blank=3),
    row("MaxPool1d", LINE, args=(3,)), row("MaxPool2d", IMAGE, args=(3, 2), padding=1, ceil_mode=True),
    row("MaxPool2d", IMAGE, args=(2,), dilation=2), row("MaxPool3d", VOLUME, args=(2,), return_indices=True),
    row("MaxUnpool1d", (1, 2, 2), [[[0, 3], [1, 2]]], args=(2,)),
    row("MaxUnpool2d", (1, 1, 2, 2), [[[[0, 3], [8, 10]]]], args=(2,)),
    row("MaxUnpool3d", (1, 1, 1, 1, 2), [[[[[0, 2]]]]], args=(2,)),
    row("AvgPool1d", LINE, args=(3,), padding=1, count_include_pad=False), row("AvgPool2d", IMAGE, args=((2, 3),)),
    row("AvgPool2d", IMAGE, args=(2,), divisor_override=3, ceil_mode=True), row("AvgPool3d", VOLUME, args=(2,)),
    row("LPPool1d", LINE, args=(2, 3)), row("LPPool2d", IMAGE, args=(2.0, 2)), row("LPPool3d", VOLUME, args=(2.0, 2)),
    row("FractionalMaxPool2d", IMAGE, args=(2,), output_size=(3, 4)),
    row("FractionalMaxPool3d", VOLUME, args=(2,), output_ratio=(0.5, 0.5, 0.6)),
    row("AdaptiveMaxPool1d", LINE, args=(3,)), row("AdaptiveMaxPool2d", IMAGE, args=((3, None),), return_indices=True),
    row("AdaptiveMaxPool3d", VOLUME, args=(2,)),
    row("AdaptiveAvgPool1d", LINE, args=(3,)), row("AdaptiveAvgPool2d", IMAGE, args=((None, 3),)),
    row("AdaptiveAvgPool2d", IMAGE, args=(1,)), row("AdaptiveAvgPool3d", VOLUME, args=(2,)),
    *[row(f"{kind}Pad1d", LINE, args=(2,)) for kind in ("Circular", "Reflection", "Replication", "Zero")],
    *[row(f"{kind}Pad2d", IMAGE, args=((1, 2, 0, 1),)) for kind in ("Circular", "Reflection", "Replication", "Zero")],
    *[row(f"{kind}Pad3d", VOLUME, args=(1,)) for kind in ("Circular", "Reflection", "Replication", "Zero")],
    row("ConstantPad1d", LINE, args=(1, 3.5)), row("ConstantPad2d", IMAGE, args=((1, 2, 0, 1), 3.5)),
    row("ConstantPad3d", VOLUME, args=(1, 0.5)),
    row("Embedding", ints(5, 2, 3), args=(5, 4)),
    row("Embedding", ints(5, 2, 3), args=(5, 4), padding_idx=-2, max_norm=1.0, scale_grad_by_freq=True),
    row("EmbeddingBag", ints(5, 2, 3), args=(5, 4)),
    row("EmbeddingBag", ints(5, 6), [0, 2, 3], args=(5, 4), mode="sum", padding_idx=1),
    row("EmbeddingBag", ints(5, 2, 3), args=(5, 4), mode="max"),
    row("Flatten", (2, 3, 4)), row("Flatten", (2, 3, 4), args=(0, 1)), row("Unflatten", (2, 6), args=(1, (2, 3))),
    row("Fold", (2, 16, 9), args=((4, 4), 2)), row("Unfold", IMAGE, args=(2,), padding=1, stride=2),
    row("PairwiseDistance", (3, 4), (3, 4), p=1, keepdim=True), row("CosineSimilarity", (3, 4), (3, 4), dim=0),
    row("PixelShuffle", (2, 8, 3, 3), args=(2,)), row("PixelUnshuffle", (2, 2, 4, 4), args=(2,)),
    row("ChannelShuffle", (2, 4, 3, 3), args=(2,)),
    row("Upsample", IMAGE, scale_factor=2), row("Upsample", IMAGE, size=(9, 5), mode="bilinear", align_corners=True),
    row("Upsample", LINE, scale_factor=1.5, mode="linear"), row("Upsample", IMAGE, scale_factor=(2, 3), mode="bicubic"),
    *[row(name, (5, 2, 3), args=(3, 4)) for name in ("RNN", "LSTM", "GRU")],
    *[row(name, (5, 2, 3), args=(3, 4, 2), bidirectional=True, dropout=0.5) for name in ("RNN", "LSTM", "GRU")],
    *[row(name, (2, 5, 3), (1, 2, 4), args=(3, 4), batch_first=True, bias=False) for name in ("RNN", "GRU")],
    row("RNN", (5, 3), args=(3, 4, 1, "relu")), row("GRU", (5, 3), (2, 4), args=(3, 4, 2)),
    row("LSTM", (5, 2, 3), args=(3, 4, 2), proj_size=2, bidirectional=True), row("LSTM", (5, 3), args=(3, 4)),
    *[row(f"{name}Cell", (2, 3), args=(3, 4)) for name in ("RNN", "LSTM", "GRU")],
    row("RNNCell", (2, 3), (2, 4), args=(3, 4), nonlinearity="relu", bias=False), row("GRUCell", (3,), args=(3, 4)),
    row("LSTMCell", (3,), args=(3, 4)),
    row("MultiheadAttention", (3, 2, 4), (5, 2, 4), (5, 2, 4), args=(4, 2)),
    row("MultiheadAttention", (2, 3, 4), (2, 5, 4), (2, 5, 4), args=(4, 2), batch_first=True, bias=False, dropout=0.3),
    row("MultiheadAttention", (3, 2, 4), (5, 2, 6), (5, 2, 3), args=(4, 2), kdim=6, vdim=3, add_bias_kv=True),
    row("MultiheadAttention", (3, 4), (5, 4), (5, 4), args=(4, 1), add_zero_attn=True),
    row("TransformerEncoderLayer", (3, 2, 4), args=(4, 2, 6)),
    row("TransformerEncoderLayer", (2, 3, 4), args=(4, 2, 6), batch_first=True, norm_first=True, activation="gelu"),
    row("TransformerDecoderLayer", (3, 2, 4), (5, 2, 4), args=(4, 2, 6)),
    row("TransformerDecoderLayer", (3, 2, 4), (5, 2, 4), args=(4, 2, 6), norm_first=True, bias=False),
    row("Transformer", (3, 2, 4), (5, 2, 4), args=(4, 2, 2, 1, 6)),
    row("Transformer", (2, 3, 4), (2, 5, 4), args=(4, 2, 1, 2, 6, 0.2, "gelu"), batch_first=True),
    row("AdaptiveLogSoftmaxWithLoss", (6, 8), ints(12, 6), args=(8, 12, [3, 7])),
    row("AdaptiveLogSoftmaxWithLoss", (8,), ints(12), args=(8, 12, [3, 7]), div_value=2.0, head_bias=True),
    row("UpsamplingNearest2d", IMAGE, scale_factor=2), row("UpsamplingBilinear2d", IMAGE, size=(9, 9)),
]


def build(guest, name, args, kwargs):
    """Return a layer of the guest after a fixed seed."""
    kwargs = {key: getattr(guest, value) if key == "dtype" else value for key, value in kwargs.items()}
    guest.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(guest.nn, name)(*args, **kwargs)


def check_states(ours, theirs, nearly):
    """Assert that two layers have the same names, and the same numbers in them, bit for bit unless `nearly`."""
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for (name, mine_value), value in zip(ours.state_dict().items(), theirs.state_dict().values()):
        if nearly:
            same(mine_value, value, name, 2e-6, 1e-7)
        else:
            numpy.testing.assert_array_equal(mine_value.numpy(), value.numpy(), err_msg=name)


@pytest.mark.filterwarnings("ignore")
@each("name, args, kwargs, wanted", ROWS, size=40)
def test_layer(name, args, kwargs, wanted):
    """Build, print, run, differentiate, save, load and copy a layer beside PyTorch's."""
    ours, theirs = build(mine, name, args, kwargs), build(torch, name, args, kwargs)
    assert repr(ours) == repr(theirs)
    check_states(ours, theirs, "Embedding" in name or "add_bias_kv" in kwargs)
    if kwargs.get("dtype") == "float64":
        return
    before = copy.deepcopy(ours) if hasattr(mine.Tensor, "__deepcopy__") else build(mine, name, args, kwargs)
    again = build(mine, name, args, kwargs)
    again.load_state_dict(ours.state_dict())
    results = [run(mine, ours, wanted), run(torch, theirs, wanted), run(mine, before, wanted), run(mine, again, wanted)]
    compare(results[0], results[1], name)
    compare(results[2], results[1], name)
    compare(results[3], results[1], name)
    check_states(ours, theirs, True)  # running statistics
    compare(run(mine, ours.eval(), wanted), run(torch, theirs.eval(), wanted), name)


def compare(ours, theirs, name):
    """Assert that two runs gave the same."""
    for place, (left, right) in enumerate(zip(ours[0], theirs[0])):
        same(left, right, f"{name}: output {place}")
    for place, (left, right) in enumerate(zip(ours[1], theirs[1])):
        assert (left is None) == (right is None), f"{name}: gradient of input {place}"
        if left is not None:
            same(left, right, f"{name}: gradient of input {place}")
    for key, right in theirs[2].items():
        assert (ours[2][key] is None) == (right is None), f"{name}: gradient of {key}"
        if right is not None:
            same(ours[2][key], right, f"{name}: gradient of {key}")


@pytest.mark.parametrize("options", [{"size": 3}, {"size": 2, "alpha": 0.1, "beta": 0.5, "k": 2}, {"size": 7}])
def test_cross_map_normalization(options):
    """Normalize as PyTorch does; its gradient is left alone, for it is that of another window."""
    ours, theirs = mine.nn.CrossMapLRN2d(**options), torch.nn.CrossMapLRN2d(**options)
    assert repr(ours) == repr(theirs)
    x = numbers_of((2, 6, 3, 3), 0)
    same(ours(mine.tensor(x)), theirs(torch.tensor(x)), "CrossMapLRN2d")


@each("name", ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout",
               "FeatureAlphaDropout"))
@each("library", (torch, mine), ids=("genuine", "dragon"))
def test_dropout_in_place_that_drops_nothing_writes_nothing(library, name):
    shape = {"Dropout1d": (2, 3, 4), "Dropout3d": (2, 3, 2, 2, 2)}.get(name, (2, 3, 2, 2))
    x = library.ones(shape, requires_grad=True)
    saved = x.exp()
    for layer in (getattr(library.nn, name)(0.0, inplace=True), getattr(library.nn, name)(0.5, inplace=True).eval()):
        assert layer(saved) is saved and saved._version == 0
        assert layer(x) is x and x._version == 0
    saved.sum().backward()
    assert x.grad is not None
    if "Alpha" in name:  # PyTorch never writes in place here
        return
    written = library.ones(shape)
    assert getattr(library.nn, name)(0.5, inplace=True)(written) is written and written._version > 0
