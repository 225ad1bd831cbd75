"""Docstrings of operators and of table rows: what they are made of, how they read, and that imports pay nothing."""
import inspect
import os
import pydoc
import subprocess
import sys

import pytest

import dragon
from dragon.core.descriptions import Descriptions, kind_of
from dragon.vm import keras, torch
from dragon.vm.docstrings import Words, read_examples, words_above

# Which functions of lists of tensors there are is read at once: a page of text, in less than a millisecond.
READS = """
import sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and str(args[0]).endswith(".txt")
                 and not str(args[0]).endswith("foreach_signatures.txt") and opened.append(args[0]))
import dragon
from dragon.vm import torch
assert not opened, opened
torch.cumsum.__doc__
assert opened and len(opened) == len(set(opened))
before = len(opened)
torch.cat.__doc__
assert len(opened) == before
"""


def test_tables_are_read_when_a_docstring_is_asked_for():
    subprocess.run([sys.executable, "-c", READS], check=True, cwd="/", env=os.environ)


@pytest.mark.parametrize("schema, python", [
    ("Tensor", "Tensor"), ("Tensor?", "Tensor"), ("Tensor!", "Tensor"), ("int[]", "Sequence[int]"),
    ("int[2]", "Union[int, Sequence[int]]"), ("Scalar?", "number"), ("device?", "Union[device, str]")])
def test_types_are_pythons(schema, python):
    assert kind_of(schema) == python


def test_an_operator_is_described(tmp_path):
    table = "[*]\nx :  : Numbers.\n[sum]\nreturn : Tensor : Fewer.\n>>> 1\n[7]\n[mul_]\n>>> 2\n"
    (tmp_path / "rows.txt").write_text(table, encoding="utf-8")
    describe = Descriptions(str(tmp_path)).describe_operator
    told = describe("sum", False, ("x", "axis", "keepdims", "dtype"), "Add them.")
    assert told.startswith("Add them.\n\nParameters\n----------\nx : Tensor\n    Numbers.\naxis : ")
    assert "\nkeepdims : bool, optional, default=False\n" in told and "\nout : Tensor, optional\n" in told
    assert told.endswith("\n\nReturns\n-------\nTensor\n    Fewer.\n\nExamples\n--------\n>>> 1\n[7]\n")
    in_place = describe("mul", True, ("x", "y"), "Multiply.")
    assert in_place.startswith("Multiply. The result is written into `x`.\n") and "out :" not in in_place
    assert in_place.endswith("Returns\n-------\nTensor\n    `x` itself.\n\nExamples\n--------\n>>> 2\n")


def test_a_table_that_is_missing_says_nothing(tmp_path):
    told = Descriptions(str(tmp_path / "nowhere")).describe_operator("relu", False, ("x",), "Cut.")
    assert told == ("Cut.\n\nParameters\n----------\nx : Tensor\n"
                    "out : Tensor, optional\n    Written into, and returned.\n\nReturns\n-------\nTensor\n")


def test_named_results_are_told_by_their_names():
    assert "\nReturns\n-------\nTuple[Tensor, Tensor]\n    `(values, indices)`" in torch.topk.__doc__
    assert "\nReturns\n-------\nvalues, indices : Tensor\n" in torch.cummax.__doc__


def test_a_function_may_have_an_entry_of_its_own_where_others_have_its_name():
    assert "torch.softmax(" in torch.softmax.__doc__ and "F.softmax(" in torch.nn.functional.softmax.__doc__


@pytest.mark.parametrize("value, parts", [
    (torch.nn.Conv2d, ["Conv2d(in_channels, out_channels, kernel_size", "Size of the window.", "[8, 16, 16, 16])"]),
    (torch.cumsum, ["cumsum(input, dim, *, dtype=None, out=None)", "dim : int", "tensor([1, 3, 6])"]),
    (torch.Tensor.view, ["shape : int", "x.view(2, -1)"]),
    (torch.Tensor.item, ["item(self, /)", "torch.tensor([[7]]).item()"]),
    (keras.layers.Dense, ["class Dense(", "kernel_initializer", "array([[7., 7.]], dtype=float32)"]),
    (dragon.zeros, ["zeros(shape", "Of that shape."])], ids=lambda value: getattr(value, "__name__", ""))
def test_help_reads_well(value, parts):
    text = pydoc.plain(pydoc.render_doc(value))
    assert not [part for part in parts if part not in text]


def test_classes_are_told_what_those_above_them_are():
    class Above:
        """Do it.

        Parameters
        ----------
        size, step : int, optional, default=1
            How far,
            and how often.
        other : str
            Not asked for.

        """

    words = words_above((Above, object), {"size", "step"})
    assert list(words) == ["size"] and words["size"].entry({"size": 2, "step": 2}) == (
        "size, step : int, optional, default=2\n    How far, and how often.")
    assert "out_channels" in torch.nn.Conv3d.__doc__ and torch.nn.Conv3d.__doc__.count("kernel_size :") == 1


def test_examples_of_rows_stand_below_their_modules_and_names():
    table = "\n[a.b]\nfirst\n>>> 1\n1\nsecond\n>>> [2]\n[2]\n[a.c]\nthird\n>>> 3\n"
    assert read_examples(table) == {"a.b": {"first": ">>> 1\n1\n", "second": ">>> [2]\n[2]\n"},
                                    "a.c": {"third": ">>> 3\n"}}
    assert Words("a", "[a]\nx : int : It.", table).examples["a.c"] == {"third": ">>> 3\n"}


@pytest.mark.parametrize("function", [torch.topk, torch.Tensor.scatter_add_, dragon.ops.conv2d])
def test_what_a_signature_names_is_told(function):
    told = inspect.getdoc(function)
    assert not [name for name in inspect.signature(function).parameters if f"\n{name} : " not in told]
