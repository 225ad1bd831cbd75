"""Recurrent layers on packed sequences, attention and transformers under masks, beside PyTorch's."""
import warnings

import numpy
import pytest

from dragon.vm import torch as mine
from harness.subresults import each

torch = pytest.importorskip("torch")
BOTH = (mine, torch)
LENGTHS = [3, 5, 1]


def array(*shape, seed=0):
    """Return normal numbers."""
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


def flat(result):
    """Return the tensors of a nested result as arrays."""
    if isinstance(result, (tuple, list)):
        return [item for part in result for item in flat(part)]
    if result is None:
        return [None]
    return [result.detach().numpy() if hasattr(result, "detach") else result]


def agree(play, rtol=1e-4, atol=2e-5):
    """Assert that a scenario gives the same on both."""
    notes = []
    for guest in BOTH:
        guest.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notes.append(flat(play(guest)))
    assert len(notes[0]) == len(notes[1])
    for place, (left, right) in enumerate(zip(*notes)):
        if isinstance(left, numpy.ndarray):
            assert left.shape == right.shape and left.dtype == right.dtype, place
            numpy.testing.assert_allclose(left, right, rtol, atol, err_msg=f"note {place}")
        else:
            assert left == right, place


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("by_length", [False, True])
def test_packing(batch_first, by_length):
    """Pack padded sequences and pad packed ones, with gradients."""
    def play(g):
        rnn = g.nn.utils.rnn
        lengths = sorted(LENGTHS, reverse=True) if by_length else LENGTHS
        x = g.tensor(array(3, 5, 2) if batch_first else array(5, 3, 2)).requires_grad_()
        packed = rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=by_length)
        padded, found = rnn.pad_packed_sequence(packed, batch_first, -1.0, 7)
        (padded * padded).sum().backward()
        other = rnn.pack_padded_sequence(x, g.tensor(lengths), batch_first, by_length)
        return [*packed, padded, found, x.grad, *other, *rnn.unpack_sequence(packed), packed.double().data]
    agree(play)


def test_padding():
    """Pad lists of sequences on either side, and take padding away."""
    def play(g):
        rnn = g.nn.utils.rnn
        parts = [g.tensor(array(length, 2)).requires_grad_() for length in LENGTHS]
        padded = rnn.pad_sequence(parts, batch_first=True, padding_value=9.0)
        (padded * padded).sum().backward()
        packed = rnn.pack_sequence(parts, enforce_sorted=False)
        return [padded, rnn.pad_sequence(parts), rnn.pad_sequence(parts, padding_side="left"), parts[0].grad, *packed,
                rnn.unpad_sequence(padded, g.tensor(LENGTHS), batch_first=True),
                rnn.invert_permutation(g.tensor([2, 0, 1])), packed.is_cuda, type(packed).__name__]
    agree(play)


@each("call", [
    lambda g, rnn: rnn.pack_padded_sequence(g.ones(5, 2, 1), [3, 5]),
    lambda g, rnn: rnn.pack_padded_sequence(g.ones(5, 2, 1), [3, 0]),
    lambda g, rnn: rnn.pack_padded_sequence(g.ones(5, 2, 1), [3]), lambda g, rnn: rnn.pad_sequence([]),
    lambda g, rnn: rnn.pad_sequence([g.ones(1)], padding_side="up"),
    lambda g, rnn: g.nn.LSTM(2, 3)(g.ones(4, 1, 5)), lambda g, rnn: g.nn.GRU(2, 3)(g.ones(4, 1, 2), g.ones(2, 1, 3)),
    lambda g, rnn: g.nn.RNN(2, 3)(g.ones(4, 1, 2), g.ones(1, 3)),
    lambda g, rnn: g.nn.LSTM(2, 3)(g.ones(4, 1, 2), (g.ones(1, 1, 3), g.ones(1, 1, 2)))])
def test_refused_sequences(call):
    """Refuse with PyTorch's classes of errors."""
    for guest in BOTH:
        with pytest.raises(RuntimeError):
            call(guest, guest.nn.utils.rnn)


@pytest.mark.parametrize("call", [
    lambda g: g.nn.LSTM(2, 3, dropout=2.0), lambda g: g.nn.LSTM(0, 3), lambda g: g.nn.RNN(2, 3, nonlinearity="no"),
    lambda g: g.nn.GRU(2, 3, proj_size=1), lambda g: g.nn.LSTM(2, 3, proj_size=3), lambda g: g.nn.GRU(2, 3)(g.ones(2)),
    lambda g: g.nn.GRUCell(2, 3)(g.ones(1, 1, 2)), lambda g: g.nn.LSTM(2, 3)(g.ones(4, 1, 2).double())])
def test_refused_options(call):
    """Refuse what no recurrent layer can be made of, or be given."""
    for guest in BOTH:
        with pytest.raises(ValueError):
            call(guest)


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_gradients_without_sequences(name):
    """An empty batch has gradients as empty as it is, states among them, and parameters have zeros."""
    def play(g):
        layer, x = getattr(g.nn, name)(2, 3, bidirectional=True), g.zeros(4, 0, 2).requires_grad_()
        h = [g.zeros(2, 0, 3).requires_grad_() for _ in range(2 if name == "LSTM" else 1)]
        out, _ = layer(x, tuple(h) if len(h) == 2 else h[0])
        out.sum().backward()
        return out, x.grad, [state.grad for state in h], [p.grad for p in layer.parameters()]
    agree(play)


@each("name, options", [
    ("RNN", {}), ("RNN", {"nonlinearity": "relu", "bias": False}), ("GRU", {"num_layers": 2, "bidirectional": True}),
    ("LSTM", {"num_layers": 2, "dropout": 0.5}), ("LSTM", {"bidirectional": True, "proj_size": 2})])
@each("given", [False, True])
def test_packed_layers(name, options, given):
    """Run over packed sequences of different lengths."""
    def play(g):
        rnn, layer = g.nn.utils.rnn, getattr(g.nn, name)(2, 3, **options)
        x = g.tensor(array(5, 3, 2)).requires_grad_()
        count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
        state = None
        if given:
            state = g.tensor(array(count, 3, options.get("proj_size", 3)))
            state = (state, g.tensor(array(count, 3, 3))) if name == "LSTM" else state
        packed = rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False)
        g.manual_seed(1)
        output, hidden = layer(packed, state)
        padded, _ = rnn.pad_packed_sequence(output)
        (padded * padded).sum().backward()
        return [*output, hidden, x.grad, [param.grad for param in layer.parameters()]]
    agree(play)


def test_weights_of_layers():
    """List weights as PyTorch does, also after a cast and with a replaced weight."""
    def play(g):
        layer = g.nn.LSTM(2, 3, 2, bidirectional=True)
        layer.weight_ih_l0 = g.nn.Parameter(g.zeros(12, 2))
        layer.flatten_parameters()
        notes = [[len(part) for part in layer.all_weights], len(layer._flat_weights), layer(g.ones(2, 1, 2))]
        return notes + [layer.double()(g.ones(2, 1, 2, dtype=g.float64)), layer._flat_weights[0].dtype == g.float64,
                        [name for names in layer._all_weights for name in names]]
    agree(play)


def masks(g, kind):
    """Return (key padding, attention mask) for 2 sequences of 4 queries and 4 keys, 2 heads."""
    padding = g.tensor([[False, False, False, True], [False, False, True, True]])
    causal = g.triu(g.ones(4, 4), 1).bool()
    return {"none": (None, None), "padding": (padding, None), "causal": (None, causal), "both": (padding, causal),
            "numbers": (None, g.zeros(4, 4).masked_fill(causal, float("-inf"))),
            "each": (None, g.tensor(array(4, 4, 4)))}[kind]


@each("kind", ["none", "padding", "causal", "both", "numbers", "each"])
@each("training", [False, True])
@each("options", [{}, {"batch_first": True, "bias": False}, {"add_bias_kv": True},
                  {"add_zero_attn": True, "kdim": 3, "vdim": 5}])
def test_attention(options, training, kind):
    """Attend under masks; weights averaged, for each head, or not asked for."""
    def play(g):
        layer = g.nn.MultiheadAttention(4, 2, **options).train(training)
        padding, mask = masks(g, kind)
        sizes = [4, options.get("kdim", 4), options.get("vdim", 4)]
        first = (2, 4) if options.get("batch_first") else (4, 2)
        inputs = [g.tensor(array(*first, size, seed=size)).requires_grad_() for size in sizes]
        notes = []
        for more in ({}, {"average_attn_weights": False}, {"need_weights": False}):
            output, weights = layer(*inputs, key_padding_mask=padding, attn_mask=mask, **more)
            notes += [output, weights]
        (output * output).sum().backward()
        with g.no_grad():
            notes.append(layer(*inputs, key_padding_mask=padding, attn_mask=mask))
        return notes + [value.grad for value in inputs] + [param.grad for param in layer.parameters()]
    agree(play)


@each("kind", ["none", "padding", "causal", "both"])
@each("mode", ["train", "eval", "no_grad"])
@each("options", [{"batch_first": True}, {"norm_first": True},
                  {"batch_first": True, "activation": "gelu"}])
def test_encoder(options, mode, kind):
    """Encode under masks; without gradients, PyTorch leaves zeros where the padding is."""
    def play(g):
        layer = g.nn.TransformerEncoderLayer(4, 2, 6, **options)
        norm = g.nn.LayerNorm(4) if "norm_first" in options else None
        encoder = g.nn.TransformerEncoder(layer, 2, norm).train(mode == "train")
        padding, mask = masks(g, kind)
        x = g.tensor(array(2, 4, 4) if options.get("batch_first") else array(4, 2, 4)).requires_grad_()
        g.manual_seed(1)
        if mode == "no_grad":
            with g.no_grad():
                return encoder(x, mask, padding), repr(encoder)
        output = encoder(x, mask, padding)
        (output * output).sum().backward()
        return output, x.grad, [param.grad for param in encoder.parameters()]
    agree(play)


@pytest.mark.parametrize("batch_first", [False, True])
def test_transformer(batch_first):
    """Translate with all masks."""
    def play(g):
        model = g.nn.Transformer(4, 2, 1, 2, 6, batch_first=batch_first)
        padding, _ = masks(g, "padding")
        causal = model.generate_square_subsequent_mask(4)
        shape = (2, 4, 4) if batch_first else (4, 2, 4)
        source, target = g.tensor(array(*shape)), g.tensor(array(*shape, seed=1))
        g.manual_seed(1)
        output = model(source, target, tgt_mask=causal, src_key_padding_mask=padding, tgt_key_padding_mask=padding,
                       memory_key_padding_mask=padding, tgt_is_causal=True)
        output.sum().backward()
        with pytest.raises(RuntimeError):
            model(source, g.ones(3, 3, 4))
        with pytest.raises(RuntimeError):
            model(source, g.ones(*shape[:2], 3))
        return causal, output, [param.grad for param in model.parameters()], list(model.state_dict())
    agree(play)


def test_adaptive_softmax():
    """Predict and list log-probabilities of all classes."""
    def play(g):
        layer = g.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7])
        x = g.tensor(array(6, 8))
        for bad in (lambda: layer(x, g.tensor([1, 2])), lambda: layer(x, g.full((6,), 12))):
            with pytest.raises(RuntimeError):
                bad()
        return layer.log_prob(x), layer.predict(x), layer.predict(x * 9)
    agree(play)
