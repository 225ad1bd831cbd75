"""Layers of `torch.nn` as scripts: what they give, and their archives, beside PyTorch."""
import io

import numpy
import pytest

import dragon.vm.torch as dt
from harness.subresults import each

torch = pytest.importorskip("torch")


def numbers(room, *shape):
    """Return numbers that both frameworks make alike."""
    count = int(numpy.prod(shape))
    return room.tensor(numpy.sin(numpy.arange(count) * 1.37 + 0.3).astype("float32").reshape(shape))


def layers(room):
    """Return {name: (layer, arguments)}."""
    nn, x, y, z = room.nn, numbers(room, 2, 4, 6), numbers(room, 2, 4, 8, 8), numbers(room, 2, 4, 4, 8, 8)
    two, classes = numbers(room, 3, 6), room.tensor([0, 5, 2])
    signs, steps = room.sign(two + 0.5), numbers(room, 4, 2, 6)
    padding = room.tensor([[False] * 4, [False, False, True, True]])
    return {
        "attention": (nn.MultiheadAttention(6, 2), (steps, steps, steps)),
        "attention of three sizes": (nn.MultiheadAttention(6, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True),
                                     (steps, numbers(room, 5, 2, 3), numbers(room, 5, 2, 5))),
        "attention alone": (nn.MultiheadAttention(6, 2), (two, two, two)),
        "attention with masks": (nn.MultiheadAttention(6, 2, batch_first=True),
                                 (x, x, x, padding, True, room.triu(room.ones(4, 4), 1) == 1)),
        "encoder": (nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), 2, nn.LayerNorm(6)),
                    (x, None, padding)),
        "encoder layer": (nn.TransformerEncoderLayer(6, 2, 8, activation="gelu", norm_first=True), (steps,)),
        "decoder": (nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8), 2), (steps, numbers(room, 3, 2, 6))),
        "transformer": (nn.Transformer(6, 2, 1, 1, 8), (steps, numbers(room, 3, 2, 6))),
        "step of RNN": (nn.RNNCell(6, 5, nonlinearity="relu"), (two,)), "step of GRU": (nn.GRUCell(6, 5), (two[0],)),
        "step of LSTM": (nn.LSTMCell(6, 5), (two, (numbers(room, 3, 5), numbers(room, 3, 5)))),
        "maxima and places": (nn.MaxPool2d(2, return_indices=True), (y,)),
        "maxima to a size": (nn.AdaptiveMaxPool3d(2, return_indices=True), (z,)),
        "norms over windows": (nn.LPPool2d(2, 2), (y.abs(),)), "means of volumes": (nn.AvgPool3d(2), (z,)),
        "edges in circles": (nn.CircularPad2d(1), (y,)), "columns": (nn.Unfold(2), (y,)),
        "windows put back": (nn.Fold((4, 4), 2), (numbers(room, 1, 8, 9),)),
        "areas": (nn.Upsample(scale_factor=0.5, mode="area"), (y,)),
        "nearest, exactly": (nn.Upsample(size=5, mode="nearest-exact"), (x,)),
        "neighbours": (nn.LocalResponseNorm(2), (y,)), "one line": (nn.Softshrink(), (y,)),
        "bags": (nn.EmbeddingBag(10, 3, mode="sum"), (room.arange(6), room.tensor([0, 4]))),
        "huber": (nn.HuberLoss(delta=0.5), (two, signs)), "kl": (nn.KLDivLoss(reduction="batchmean"), (two, two.abs())),
        "poisson": (nn.PoissonNLLLoss(full=True), (two, two.abs() * 3)), "triplets": (
            nn.TripletMarginLoss(), (two, signs, -two)), "many labels": (
            nn.MultiLabelSoftMarginLoss(), (two, signs.abs())),
        "margins": (nn.MultiMarginLoss(), (two, classes)),
        "angles": (nn.CosineEmbeddingLoss(), (two, signs, room.tensor([1, -1, 1]))),
        "labels without times": (nn.CTCLoss(), (numbers(room, 5, 2, 4), room.tensor([[1, 2], [2, 3]]),
                                                room.tensor([5, 5]), room.tensor([2, 2])))}


def packed(room, kind):
    """Return a module that packs what a recurrent layer takes."""
    class Packed(room.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = getattr(room.nn, kind)(6, 5, batch_first=True, bidirectional=True)

        def forward(self, x, lengths):
            packed = room.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            found, _ = self.layer(packed)
            return room.nn.utils.rnn.pad_packed_sequence(found, batch_first=True)
    return Packed(), (numbers(room, 3, 4, 6), room.tensor([2, 4, 1]))


def made(room, name):
    """Return a module and its arguments, with weights that both frameworks make alike."""
    module, arguments = packed(room, name) if name in ("RNN", "LSTM", "GRU") else layers(room)[name]
    for weight in module.parameters():
        weight.data.copy_(numbers(room, *weight.shape) * 0.3)
    return module.eval(), arguments


def flat(found):
    """Return the tensors of a result."""
    if found is None:
        return []
    return [part for each in found for part in flat(each)] if isinstance(found, (tuple, list)) else [found]


def same(found, expected):
    """Check that two results are one."""
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        numpy.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@each("name", [*layers(dt), "RNN", "LSTM", "GRU"])
@each("direction", ["there", "back"], size=25)
@pytest.mark.long("every layer is scripted, by genuine PyTorch as well")
def test_layers_are_scripts(name, direction):
    here, other = (dt, torch) if direction == "there" else (torch, dt)
    module, arguments = made(here, name)
    scripted, buffer = here.jit.script(module), io.BytesIO()
    here.jit.save(scripted, buffer)
    same(scripted(*arguments), module(*arguments))
    loaded = other.jit.load(io.BytesIO(buffer.getvalue()))
    for recording in (True, False):  # without gradients PyTorch's layers take ways of their own
        with here.set_grad_enabled(recording), other.set_grad_enabled(recording):
            same(loaded(*made(other, name)[1]), module(*arguments))
