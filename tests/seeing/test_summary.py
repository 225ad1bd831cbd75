"""Tables of models: counts that can be checked by hand, modules of every face, and a model that stays as it was."""
from collections import OrderedDict

import pytest

import dragon
from dragon.vm import keras, torch
from seeing.pages import HOSTILE, check_page


def rows_of(table):
    """Return {name: (kind, output, parameters, multiply-adds)} of a table."""
    return {row.name: (row.kind, row.output, row.parameters, row.multiply_adds) for row in table.rows}


def test_a_chain_of_layers():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, groups=1), torch.nn.BatchNorm2d(8), torch.nn.Flatten(),
                                torch.nn.Linear(8 * 36, 10))
    table = dragon.summary(model, input_size=(2, 3, 8, 8))
    assert rows_of(table) == {
        "": ("Sequential", "float32[2, 10]", 3130, 15552 + 5760),
        "0": ("Conv2d", "float32[2, 8, 6, 6]", 224, 2 * 8 * 36 * 27),
        "1": ("BatchNorm2d", "float32[2, 8, 6, 6]", 16, 0),
        "2": ("Flatten", "float32[2, 288]", 0, 0),
        "3": ("Linear", "float32[2, 10]", 2890, 2 * 288 * 10)}
    assert (table.total_parameters, table.trainable_parameters, table.total_buffers) == (3130, 3130, 17)
    assert table.input_bytes == 2 * 3 * 64 * 4 and table.parameter_bytes == 3130 * 4 + 16 * 4 + 8
    assert "3,130" in str(table) and repr(table) == str(table)
    check_page(table, 0)


def test_multiply_adds_agree_with_pytorch():
    genuine = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    def build(torch):
        return torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, stride=2, groups=2), torch.nn.ConvTranspose2d(8, 6, 3),
                                   torch.nn.Flatten(2), torch.nn.Linear(121, 16),
                                   torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True))
    counter = FlopCounterMode(display=False)
    with counter, genuine.no_grad():
        build(genuine).train()(genuine.ones(3, 4, 20, 20))
    table = dragon.summary(build(torch), input_size=(3, 4, 20, 20), training=True)
    assert 2 * table.total_multiply_adds == counter.get_total_flops()


def test_resnet_has_its_known_figures():
    from dragon.vm.torchvision.models import resnet18
    table = dragon.summary(resnet18(), input_size=(1, 3, 224, 224), depth=1)
    assert table.total_parameters == 11_689_512 and table.total_multiply_adds == 1_814_073_344
    assert len(table.text.splitlines()) < 25 and "layer1 (Sequential)" in table.text and "layer1.0" not in table.text


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = torch.nn.Embedding(10, 4), torch.nn.Linear(4, 10, bias=False)
        self.out.weight = self.embed.weight
        self.spare = torch.nn.Linear(3, 3)

    def forward(self, batch, scale=1.0):
        hidden = self.embed(batch["ids"]) * scale
        if hidden.sum() > 1e9:
            hidden = -hidden
        return {"logits": self.out(self.out.weight[:0].sum() + hidden), "hidden": (hidden, [hidden])}


def test_dictionaries_shared_weights_and_choices_by_number():
    model = Tied().train()
    before = torch.get_rng_state()
    table = dragon.summary(model, {"ids": torch.zeros(2, 3, dtype=torch.int64)}, scale=2.0)
    rows = rows_of(table)
    assert rows[""][1] == "{logits: float32[2, 3, 10], hidden: (float32[2, 3, 4], [float32[2, 3, 4]])}"
    assert rows[""][2] == table.total_parameters == 40 + 12 and rows["out"][2] == rows["embed"][2] == 40
    assert [row.name for row in table.rows if row.is_shared] == ["out"] and "(40)" in table.text
    assert "spare (Linear)" in table.text and "not called" in table.text
    assert model.training and model.out.training and (torch.get_rng_state() == before).all()
    assert not any(parameter.grad is not None for parameter in model.parameters())


def test_a_module_that_is_called_twice():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.inner(self.inner(x))
    table = dragon.summary(Twice(), torch.ones(2, 4))
    assert [row.calls for row in table.rows] == [1, 2] and table.total_multiply_adds == 2 * 2 * 4 * 4
    assert "inner (Linear) x2" in table.text


def test_looking_at_a_model_leaves_it_as_it_was():
    class Remembers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.places, self.last, self.calls = torch.nn.BatchNorm1d(4), None, None, 0
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x):
            self.calls += 1
            if self.places is None:
                self.places = torch.zeros(4)
                self.places[::2] = 1.0
            self.last, self.mean = x * 2, x.mean(0)
            if looks and x.sum() > 0:
                return x
            return self.norm(x) + self.places
    for looks in (False, True):
        model = Remembers()
        dragon.summary(model, torch.zeros(2, 4), training=not looks)
        assert (model.places, model.last, model.calls, model.training) == (None, None, 0, True)
        assert model.mean.tolist() == [0.0] * 4 and model.norm.num_batches_tracked == 0


def test_weights_that_the_first_call_makes_are_real():
    lazy = torch.nn.Sequential(torch.nn.LazyLinear(300), torch.nn.ReLU(), torch.nn.LazyLinear(2))
    table = dragon.summary(lazy, input_size=(5, 4))
    assert [row.calls for row in table.rows] == [1, 1, 1, 1] and table.made_bytes == 4 * 5 * (300 + 300 + 2)
    assert lazy[0].weight.abs().max() <= 0.5 and lazy[0].weight.std() > 0.2  # uniform, up to 1 / sqrt(4)
    layers = keras.Sequential([keras.layers.Dense(3, name="wide")])
    table = dragon.summary(layers, input_size=(2, 4))
    assert rows_of(table)["wide"] == ("Dense", "float32[2, 3]", 15, 24) and table.rows[1].calls == 1
    assert layers.built and layers.get_weights()[0].std() > 0


def test_a_fault_of_the_model_is_told_once():
    class Fails(torch.nn.Module):
        def forward(self, x):
            raise RuntimeError("mine")
    with pytest.raises(RuntimeError, match="mine") as caught:
        dragon.summary(Fails(), torch.ones(2))
    assert caught.value.__context__ is None


def test_the_other_faces():
    native = dragon.summary(dragon.nn.Sequential(dragon.nn.Linear(3, 4), dragon.nn.ReLU()), dragon.ones((2, 3)))
    assert rows_of(native)["0"] == ("Linear", "float32[2, 4]", 16, 24)
    entry = keras.Input((4,))
    hidden = keras.layers.BatchNormalization(name="norm")(keras.layers.Dense(3, name="wide")(entry))
    model = keras.Model(entry, keras.layers.Dense(2, name="slim")(hidden))
    table = dragon.summary(model, input_size=(5, 4))
    assert table.total_parameters + table.total_buffers == model.count_params() == 35
    assert rows_of(table)["wide"] == ("Dense", "float32[5, 3]", 15, 60)
    recurrent = dragon.summary(torch.nn.LSTM(4, 5), torch.ones(7, 2, 4))
    assert recurrent.total_multiply_adds == 7 * 2 * (20 * 4 + 20 * 5)


def test_graphs_and_compiled_functions():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).eval()
    function = dragon.function(model)
    with torch.no_grad():
        function(torch.ones(2, 8))
    table = dragon.summary(function)
    assert table.total_multiply_adds == 2 * (8 * 16 + 16 * 4) and table.total_parameters == 8 * 16 + 16 + 16 * 4 + 4
    assert rows_of(table)["Sequential.0"][1:] == ("float32[2, 16]", 144, 256)
    assert dragon.summary(function.graph).text == table.text
    model.train()

    @dragon.function
    def step(x):
        loss = model(x).sum()
        loss.backward()
        return loss
    step(torch.ones(2, 8))
    assert dragon.summary(step).total_parameters == table.total_parameters
    plain = dragon.Graph("plain")
    x = plain.add_input((3, 4))
    plain.outputs = plain.add_call("matmul", [x, plain.add_call("transpose", [x], axis0=0, axis1=1)[0]])
    assert dragon.summary(plain).total_multiply_adds == 3 * 3 * 4


def test_modules_that_are_compiled():
    module = torch.compile(torch.nn.Linear(3, 4))
    module(torch.ones(2, 3))
    assert dragon.summary(module, torch.ones(2, 3)).total_multiply_adds == 24
    assert "held at the peak" in dragon.seeing.picture(module).text


def test_hostile_names_and_narrow_terminals(monkeypatch):
    name = HOSTILE.replace("\x00", "").replace("\ud800", "")
    odd = type(name + "x" * 500, (torch.nn.Sequential,), {})
    monkeypatch.setenv("COLUMNS", "80")
    table = dragon.summary(odd(OrderedDict({name + "y" * 300: torch.nn.Linear(2, 2)})), torch.ones(1, 2))
    check_page(table, 0)
    assert "<script>alert" not in table.html() and len(table.html()) < 10_000
    assert max(map(len, table.text.splitlines()[:6])) <= 80


def test_what_is_asked_wrongly_is_told():
    layer = torch.nn.Linear(3, 3)
    for wrong, error, words in [
            (lambda: dragon.summary(layer), TypeError, "no inputs for Linear"),
            (lambda: dragon.summary(layer, torch.ones(3), input_size=(3,)), TypeError, "inputs and input_size"),
            (lambda: dragon.summary(layer, input_size=(2.5, 3)), ValueError, "whole numbers"),
            (lambda: dragon.summary(layer, input_size=(2, 3), dtype=["float32", "int64"]), ValueError, "one for each"),
            (lambda: dragon.summary(dragon.Graph("g"), 3), TypeError, "none: it knows its shapes"),
            (lambda: dragon.summary(3), TypeError, "summary: got int")]:
        with pytest.raises(error, match=words):
            wrong()
    with pytest.raises(Exception, match="(?i)linear|matmul|shape"):
        dragon.summary(layer, torch.ones(2, 5))
    assert type(layer).__call__.__name__ == "_wrapped_call_impl"  # a failure leaves classes as they were
