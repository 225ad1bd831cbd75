"""The table of TensorFlow's operators: rows of what definitions have, and what they compute beside the genuine ones."""
import ast
import subprocess
import sys

import numpy as np
import pytest

from dragon.dialects.rows import free_names, read_rows
from dragon.dialects.tensorflow import signatures, table
from dragon.vm import tensorflow as ours
from dragon.vm.tensorflow.core.saved_model import operators, values  # noqa: F401: operators fill the table
from dragon.vm.tensorflow.core.saved_model.table import FUNCTIONS, ROW_FUNCTIONS, find, names, resolve
from dragon.vm.tensorflow.core.saved_model.writing import trace  # noqa: F401: it fills the table of handlers
from dragon.vm.tensorflow.core.saved_model.writing.builder import INFIX, WORDS, Builder
from dragon.vm.tensorflow.core.saved_model.writing.rows import OPSET, PYTHON, handler_of
from dragon.vm.tensorflow.core.saved_model.writing.translation import HANDLERS
from harness import answers, genuine
from harness.subresults import each

FLOATS = np.array([[0.25, 0.5, 0.75], [0.125, 0.375, 0.625], [0.9, 0.0625, 0.3]], "float32")
WHOLE = np.array([[1, 2, 3], [7, 5, 4], [6, 8, 2]], "int32")
# Operators that draw numbers, want other numbers than these, or have vectors of either sign as results.
OTHERWISE = {"RandomShuffle", "InvertPermutation", "Cholesky", "Polygamma", "SelfAdjointEigV2", "Svd"}
# What genuine TensorFlow has no kernel for, or one that gives zeros, though the definition has the dtype.
WITHOUT_KERNEL = {("MatrixExponential", "float32"), *((name, "int32") for name in (
    "ApproximateEqual", "Inv", "Reciprocal", "Round"))}
READS_NOTHING = """
import sys
import dragon.vm.tensorflow as tf
from dragon.vm.tensorflow.core.saved_model import calling, loading, writing
from dragon.dialects.tensorflow import signatures, table
assert not table.rows.cache_info().currsize and not signatures.lines.cache_info().currsize
assert not table.onnx_rows.cache_info().currsize
"""


def words_of(row):
    """Return the names that an operator's definition has."""
    parts = signatures.parts_of(signatures.lines()[row.name])
    return {part.name for part in parts} | {part.dtype for part in parts if part.is_input} | {table.NODE}


@each("name", table.rows())
def test_rows_say_what_definitions_have(name):
    """A name that no definition has, and no function is called by, fails here, not when a program is loaded."""
    row = table.rows()[name]
    for word in free_names(row) - words_of(row):
        assert resolve(word) is not None, f"{row.place}: {word}"
    for node in ast.walk(ast.parse(row.text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node).split(".")[0] in ("tf", "ops"):
            found = ast.unparse(node).split(".")
            if all(map(str.isidentifier, found)):
                known = resolve(found[0])
                for word in found[1:]:
                    known = getattr(known, word)
    assert callable(find(name).run)


def test_every_operator_is_told_once():
    assert not set(table.rows()) & set(FUNCTIONS)
    assert set(signatures.lines()) <= names() and len(table.rows()) > 300
    assert set(dir(ours.raw_ops)) >= set(signatures.lines())


def test_functions_of_rows_are_called_by_rows():
    called = set().union(*map(free_names, table.rows().values()))
    assert set(ROW_FUNCTIONS) <= called
    assert not {word for word in ROW_FUNCTIONS if hasattr(values, word)}


@each("name", table.onnx_rows())
def test_rows_of_onnx_say_what_can_be_written(name):
    """Their names are of ONNX's definition, of TensorFlow's nodes, or of functions; no node has a handler, too."""
    defs = pytest.importorskip("onnx").defs
    row, schema = table.onnx_rows()[name], defs.get_schema(name, OPSET)
    assert name not in HANDLERS and callable(handler_of(name))
    known = {one.name for one in schema.inputs} | set(schema.attributes) | set(PYTHON) | set(WORDS)
    for word in free_names(row) - known:
        assert word in signatures.lines() or hasattr(Builder, word), f"{row.place}: {word}"
    for node in ast.walk(ast.parse(row.text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0].isupper():
            parts = signatures.parts_of(signatures.lines()[node.func.id])
            assert len(node.args) == sum(part.is_input for part in parts), f"{row.place}: {node.func.id}"
            attributes = {part.name for part in parts if not part.is_input}
            assert {keyword.arg for keyword in node.keywords} <= attributes | {"dtype", "rank"}


def test_functions_of_rows_of_onnx_are_called_by_rows():
    assert set(WORDS) <= set().union(*map(free_names, table.onnx_rows().values()))
    assert all(op in signatures.lines() for op, _ in INFIX.values())


def test_the_same_row_twice_is_an_error(tmp_path, monkeypatch):
    for file in ("one.txt", "two.txt"):
        (tmp_path / file).write_text("Abs = tf.math.abs(x)\n")
    monkeypatch.setattr(table, "ROOM", tmp_path)
    with pytest.raises(ValueError, match="two.txt:1: got a second row for Abs, which is told in one.txt:1"):
        table.rows.__wrapped__()


def test_imports_read_no_table():
    subprocess.run([sys.executable, "-c", READS_NOTHING], check=True, cwd="/")


class Call:
    """A node without attributes."""

    op, name, where = "Any", "any", "a test"

    def get(self, name, default=None):
        return default


def run_of(op, text, monkeypatch):
    """Return the function of an operator by another row."""
    row, = read_rows(f"{op} = {text}", "here.txt")
    monkeypatch.setitem(table.rows(), op, row)
    return table.function_of(op, resolve)


def test_inputs_come_as_they_are_where_numbers_are_read(monkeypatch):
    run, host = run_of("Roll", "(numbers(shift), axis)", monkeypatch), values.host([1, 2])
    found = run(Call(), None, host, host)
    assert found[0] == [1, 2] and isinstance(found[1], ours.Tensor)


def test_lists_share_what_fixed_inputs_leave(monkeypatch):
    run = run_of("RaggedTensorToSparse", "(rt_nested_splits, rt_dense_values, 0)", monkeypatch)
    assert run(Call(), 1, 2, 3) == ([1, 2], 3, 0)
    assert run_of("DynamicStitch", "indices + data[::-1]", monkeypatch)(Call(), 1, 2, 3, 4) == [1, 2, 4, 3]
    with pytest.raises(TypeError, match=r"got 3 operands, expected \['indices', 'data'\]"):
        find("DynamicStitch").run(Call(), 1, 2, 3)


def test_defaults_are_those_of_definitions(monkeypatch):
    assert run_of("LeakyRelu", "alpha", monkeypatch)(Call(), 1) == 0.2
    assert run_of("Shape", "out_type", monkeypatch)(Call(), 1) is ours.int32
    assert run_of("Range", "Tidx", monkeypatch)(Call(), values.host(1), 2, 3) is ours.int32


def test_segments_of_the_second_version_have_a_number():
    """No processor has them in genuine TensorFlow: their definition says that the number is the result's first size."""
    for name, wanted in (("Sum", [3, 0, 3, 0]), ("Prod", [2, 1, 3, 1])):
        found = getattr(ours.raw_ops, f"Segment{name}V2")(data=[1, 2, 3], segment_ids=[0, 0, 2], num_segments=4)
        np.testing.assert_array_equal(found, wanted)


def list_calls():
    """Return (operator, dtype) of rows of tensors of one dtype."""
    found = []
    for name in sorted(set(table.rows()) - OTHERWISE):
        inputs = [part for part in signatures.parts_of(signatures.lines()[name]) if part.is_input]
        others = [part for part in signatures.parts_of(signatures.lines()[name]) if not part.is_input]
        if inputs and not any(part.kind or not part.dtype or part.dtype != inputs[0].dtype for part in inputs) and not (
                any(part.default is signatures.REQUIRED for part in others)):
            dtypes = inputs[0].bound.split(",")
            found += [(name, dtype) for dtype, word in (("float32", "float"), ("int32", "int32"))
                      if word in dtypes and (name, dtype) not in WITHOUT_KERNEL]
    return found


def call(tf, name, dtype):
    """Return the results of an operator, or the kind of the error."""
    inputs = [part.name for part in signatures.parts_of(signatures.lines()[name]) if part.is_input]
    array = FLOATS if dtype == "float32" else WHOLE
    try:
        found = getattr(tf.raw_ops, name)(**{word: tf.constant(array if place % 2 == 0 else array[::-1].copy())
                                             for place, word in enumerate(inputs)})
    except Exception:
        return "an error"
    return [np.asarray(part) for part in (found if isinstance(found, (list, tuple)) else [found])]


@each("name, dtype", list_calls())
def test_rows_compute_what_genuine_operators_do(name, dtype):
    wanted = answers.ask("tensorflow", ["a row", name, dtype, FLOATS, WHOLE], lambda: call(genuine.tf, name, dtype))
    found = call(ours, name, dtype)
    assert (found == "an error") == (wanted == "an error"), (found, wanted)
    for one, other in zip(found, wanted, strict=True) if wanted != "an error" else ():
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.kind == "O":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
