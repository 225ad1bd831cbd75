"""The table of ONNX's operators: rows that can be written, and, read backwards, what ONNX says of each node."""
import ast

import numpy
import pytest

import dragon

onnx = pytest.importorskip("onnx")
from onnx import defs, helper, reference  # noqa: E402

from dragon.dialects.onnx import table  # noqa: E402
from dragon.dialects.rows import free_names  # noqa: E402
from dragon.onnx import families  # noqa: E402, F401: fills the table
from dragon.onnx.source import Value  # noqa: E402
from dragon.onnx.table import MAPPINGS, ROW_FUNCTIONS, callee_of  # noqa: E402
from dragon.onnx.writer import ELEMENTS, INFIX, Writer  # noqa: E402

OPSET = 21
NUMBERS = {
    "float32": [-3.0, -1.5, -1.0, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 1.0, 2.5, 30.0, numpy.inf, -numpy.inf, numpy.nan],
    "int64": [-7, -2, -1, 0, 1, 2, 3, 5, 100, -100, 12, 4, -3, 9, 8], "bool": [True, False, True] * 5}
# Inputs where not any numbers will do: rows of a table, matrices, one number, divisors and exponents of whole numbers.
GIVEN = {("embedding", "index"): [2, 0, 1], ("linalg_det", "x"): [[2.0, 1.0], [0.5, -3.0]], ("masked_fill", "value"): 1,
         ("fmod", "y"): [3, 2, -5, 7, 1] * 3, ("pow", "y"): [3, 2, 0, 1, 5] * 3}
GIVEN_ROWS = {("embedding", "weight"): 5}
# Operators that ONNX computes in more dtypes than the engine, which says so.
REFUSED = {("broadcast_prelu", "int64"), ("softshrink", "int64"), ("hardshrink", "int64")}
# ONNX divides whole numbers as C does; the engine's quotient of two is a floating-point number.
OTHERWISE = {("div", "int64")}
# By ONNX's words Shrink makes 0 of NaN, which is neither above nor below.
WITHOUT_NAN = {"softshrink", "hardshrink"}


def arguments_of(row):
    """Return the names of the arguments that a row may read."""
    return {part["name"] for part in dragon._C.schema(row.name)["arguments"]}


@pytest.mark.parametrize("row", table.rows().values(), ids=lambda row: row.name)
def test_rows_say_what_can_be_written(row):
    """A node that is none, an attribute that it lacks, or a name that nobody knows fails here, not in an export."""
    assert row.name in dragon._C.op_names() and row.name not in MAPPINGS
    assert callable(callee_of(row.name))
    known = vars(Writer(OPSET))
    for name in free_names(row) - arguments_of(row) - set(table.WORDS):
        if name[0].isupper():
            assert defs.has(name), f"{row.place}: {name}"
        else:
            assert hasattr(Writer, name) or name in known or callee_of(name), f"{row.place}: {name}"
    for node in ast.walk(ast.parse(row.text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0].isupper():
            schema = defs.get_schema(node.func.id, OPSET)
            assert {keyword.arg for keyword in node.keywords} <= set(schema.attributes), f"{row.place}: {node.func.id}"
            assert schema.min_input <= len(node.args) <= schema.max_input, f"{row.place}: {node.func.id}"


def test_row_functions_are_called_by_rows():
    called = set().union(*map(free_names, table.rows().values()))
    assert set(ROW_FUNCTIONS) <= called and not set(ROW_FUNCTIONS) & set(dragon._C.op_names())


def test_nodes_of_infix_operators_exist():
    assert all(defs.has(node) for node, _ in INFIX.values())


def read(reading, inputs, attributes):
    """Return what the engine's operator makes of a node's inputs and attributes."""
    given = dict(zip(reading.inputs, inputs))
    given.update({argument: attributes[name] for name, argument in reading.attributes.items() if name in attributes})
    return getattr(dragon.ops, reading.operator)(**{
        name: dragon.from_numpy(numpy.array(value)) if isinstance(value, numpy.ndarray) else value
        for name, value in given.items()})


def inputs_of(schema, reading, dtype):
    """Return inputs of a node in a dtype, or None where it takes others."""
    found = []
    for place, argument in enumerate(reading.inputs):
        allowed = schema.inputs[min(place, len(schema.inputs) - 1)].types  # the last one may be any number of them
        kind = "bool" if allowed == {"tensor(bool)"} else dtype
        if f"tensor({kind.replace('float32', 'float')})" not in allowed:
            return None
        numbers = NUMBERS[kind][::-1] if place else NUMBERS[kind]
        if dtype == "int64" or argument not in ("y", "index"):
            numbers = GIVEN.get((reading.operator, argument), numbers)
        rows = GIVEN_ROWS.get((reading.operator, argument))
        found.append(numpy.array(numbers, kind).reshape([rows, -1] if rows else numpy.shape(numbers)))
    return found


def attributes_of(schema, reading):
    """Return attributes for a node: those that must be some number, and others that are numbers."""
    numbers = {name: 0.25 for name in reading.attributes
               if schema.attributes[name].default_value.type == onnx.AttributeProto.FLOAT}
    return {**reading.fixed, **numbers}


def model_of(node, inputs, attributes, result):
    """Return a model of one node."""
    graph = helper.make_graph([helper.make_node(node, list(inputs), ["y"], **attributes)], "one", [
        helper.make_tensor_value_info(name, ELEMENTS[value.dtype.name], value.shape) for name, value in inputs.items()],
        [helper.make_tensor_value_info("y", ELEMENTS[result.dtype.name], None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])


def holds(reading, dtype):
    """Return whether a reading's conditions hold for tensors of a dtype, and other arguments as they are by default."""
    known = {part["name"]: part["default"] for part in dragon._C.schema(reading.operator)["arguments"]}
    known.update((name, Value(name, dtype, (1,))) for name in reading.inputs)
    known["opset"] = OPSET
    return all(bool(eval(text, dict(known))) == truth for text, truth in reading.conditions)


def test_conditions_of_readings():
    told = {(node, reading.operator): reading.conditions
            for node, found in table.readings().items() for reading in found}
    assert told["Sin", "sin"] == () and told["Mul", "mul"] == (("x.dtype == 'bool'", False),)
    assert ("Sign", "sign") in told and not any(
        holds(reading, "float32") for reading in table.readings()["Sign"])  # which is NaN for NaN


def list_readings():
    """Return (node, reading, dtype) of all nodes that are an operator, in the dtypes that ONNX has them in."""
    return [pytest.param(node, reading, dtype, id=f"{node} is {reading.operator} in {dtype}")
            for node, found in sorted(table.readings().items()) for reading in found for dtype in NUMBERS
            if holds(reading, dtype) and inputs_of(defs.get_schema(node, OPSET), reading, dtype) is not None]


@pytest.mark.parametrize("node, reading, dtype", list_readings())
def test_rows_read_backwards_are_what_onnx_says(node, reading, dtype):
    schema = defs.get_schema(node, OPSET)
    inputs, attributes = inputs_of(schema, reading, dtype), attributes_of(schema, reading)
    names = [f"x{place}" for place in range(len(inputs))]
    if (reading.operator, dtype) in REFUSED:
        with pytest.raises(dragon.Unsupported):
            read(reading, inputs, attributes)
        return
    made = read(reading, inputs, attributes)
    model = model_of(node, dict(zip(names, inputs)), attributes, made)
    with numpy.errstate(all="ignore"):
        wanted = reference.ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]
    if (reading.operator, dtype) in OTHERWISE:
        assert made.dtype.name != wanted.dtype.name
        return
    assert made.dtype.name == wanted.dtype.name and made.shape == wanted.shape
    kept = ~numpy.isnan(inputs[0]) if reading.operator in WITHOUT_NAN else ...
    numpy.testing.assert_allclose(made.numpy()[kept], wanted[kept], rtol=1e-5, atol=1e-6)
