"""The tables of PyTorch's names: what a row says is so, and an operator becomes a name by a row alone."""
import collections

import pytest

from dragon import _C
from dragon.vm import torch
from dragon.vm.guest import Row, read_rows
from dragon.vm.torch._api import FAMILIES, ROWS, functions_at
from dragon.vm.torch.core.tensor import ops
from harness.subresults import each

PLACES = {"torch", "Tensor", "functional", "special", "linalg", "fft", "_nn"}
SPACES = {"torch": torch, "Tensor": torch.Tensor, "functional": torch.nn.functional, "special": torch.special,
          "linalg": torch.linalg, "fft": torch.fft, "_nn": torch._C._nn}


def test_a_row_is_read():
    row = Row("largest=max_axis(x=input axis=dim) -> max(values indices) ~ MaxBackward0  torch Tensor")
    assert (row.name, row.operator, row.words) == ("largest", "max_axis", {"x": "input", "axis": "dim"})
    assert (row.fields, row.step, row.places) == (("max", ["values", "indices"]), "MaxBackward0", ["torch", "Tensor"])
    plain = Row("abs")
    assert (plain.name, plain.operator, plain.words, plain.fields, plain.step, plain.places) == (
        "abs", "abs", {}, None, "", [])
    rows = read_rows("\nTensor torch_: cos clip=clamp\nadd  torch\n")
    assert [(row.name, row.operator, row.places) for row in rows] == [
        ("cos", "cos", ["Tensor", "torch_"]), ("clip", "clamp", ["Tensor", "torch_"]), ("add", "add", ["torch"])]


def test_rows_speak_of_operators_that_there_are():
    known = set(_C.op_names())
    for row in ROWS:
        if row.places:
            assert row.operator in known, row.name
            assert {place.rstrip("_") for place in row.places} <= PLACES, row.name
        if row.words:
            assert set(row.words) <= {argument["name"] for argument in _C.schema(row.operator)["arguments"]}, row.name
        if row.fields and row.operator in known:
            assert len(row.fields[1]) == len(_C.schema(row.operator)["returns"]), row.name


def test_every_name_is_told_once():
    for place in {place for row in ROWS for place in row.places}:
        names = collections.Counter(row.name for row in ROWS if place in row.places)
        assert not [name for name, count in names.items() if count > 1], place
    for fact in ("words", "fields", "step"):
        operators = collections.Counter(row.operator for row in ROWS if getattr(row, fact))
        assert not [operator for operator, count in operators.items() if count > 1], fact


@each("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_names_are_where_rows_say(family):
    for row in read_rows(family.ROWS):
        for place in row.places:
            assert callable(getattr(SPACES[place.rstrip("_")], row.name + "_" * place.endswith("_"))), (row.name, place)


def test_a_row_is_enough(monkeypatch):
    monkeypatch.setattr("dragon.vm.torch._api.ROWS", [Row("softly=softplus  torch"), Row("gently=relu  torch_")])
    found = dict(functions_at("torch", ops))
    assert list(found) == ["softly"] and found["softly"](torch.zeros(1)).item() == pytest.approx(0.6931472)
    x = torch.tensor([-1.0, 2.0])
    assert dict(functions_at("torch_", ops))["gently_"](x) is x and x.tolist() == [0, 2]
