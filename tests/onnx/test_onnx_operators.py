"""Every operator with an ONNX expression: one call as a model, checked in full, equal under ONNX Runtime to eager."""
import functools

import pytest

pytest.importorskip("onnxruntime")

from harness import FLOATING, Row, engine, exported, oracle, rows  # noqa: E402
from harness.checks import samples_of  # noqa: E402
from harness.inputs import bind  # noqa: E402
from harness.parts import PARTS, RESULTS  # noqa: E402
from harness.subresults import Subresults  # noqa: E402
from harness.tolerance import compare  # noqa: E402

from dragon.onnx.errors import UnsupportedOperatorError  # noqa: E402
from dragon.onnx.model import find_mapping  # noqa: E402

TOLERANCES = {"float16": (2e-2, 2e-3), "bfloat16": (2e-2, 1e-2)}
DTYPES = FLOATING + ("int64", "int32", "int16", "int8", "uint8", "bool")
QUICK = ("float32", "int64", "bool")  # those of the quick half
# What ONNX cannot say of an operator that it has otherwise, by words of the reason.
DRAWN = "numbers that follow from a seed"  # which SavedModels have nodes for, and ONNX has none
PARTLY = {"grid_sample": "volumes before opset 20", "random": "without an upper bound",
          "suppress_boxes": "NonMaxSuppression takes 0 to 1", "select_boxes": "scores suffer from overlaps",
          **{f"stateless_{kind}": DRAWN
             for kind in ("uniform", "normal", "truncated_normal", "integers", "categorical")}}


def load_rows():
    """Return the rows of primitive operators, those of parts among them."""
    found = [row for row in rows.load_rows() if row.call is None and not engine.schema(row.name)["composite"]]
    for name, samples in PARTS.items():
        dtypes = ("float32", "float64") if name == "recurrent_layer" else FLOATING
        if samples:
            found.append(Row(name, samples, dtypes=dtypes, outputs=RESULTS.get(name), family="parts"))
    return found


ROWS = load_rows()


def tensors_of(args, kwargs):
    """Return the tensors among arguments, in order."""
    items = [item for value in [*args, *kwargs.values()]
             for item in (value if isinstance(value, (list, tuple)) else [value])]
    return [item for item in items if engine.is_tensor(item)]


def eager(row, dtype, sample, index):
    """Return the arguments of a sample and the engine's results, None in the place of those that no row compares."""
    arguments = bind(row, sample, dtype, index)
    args, kwargs = arguments.map(engine.tensor)
    results = oracle.as_tuple(engine.operator(row)(*args, **kwargs))
    return arguments, [result if row.outputs is None or place in row.outputs else None
                       for place, result in enumerate(results)]


def compare_model(row, dtype, arguments, results, opset):
    """Return what differs between eager results and those of ONNX Runtime, or None."""
    args, kwargs = arguments.map(engine.tensor)  # those that the eager call had may have been written
    model = exported.export_call(row.name, args, kwargs, results, opset)
    got = exported.run(model, tensors_of(args, kwargs))
    wanted = [result for result in results if result is not None]
    for mine, theirs in zip(wanted, got, strict=True):
        kind = engine.dtype_name(mine)
        if str(theirs.dtype) != kind and kind != "bfloat16":
            return f"{theirs.dtype}, expected {kind}"
        tolerance = TOLERANCES.get(dtype) or TOLERANCES.get(kind, (1e-4, 1e-5))
        found = None if row.random else compare(theirs, engine.array(mine), tolerance)
        if found:
            return found
    return None


def check(row, dtype, opsets):
    """Export and compare all samples of a row, each with versions of ONNX's operators."""
    failures = []
    for index, sample in enumerate(samples_of(row)):
        made = None
        for opset in opsets:
            try:
                made = made or eager(row, dtype, sample, index)
                found = compare_model(row, dtype, *made, opset)
            except UnsupportedOperatorError as error:
                found = None if PARTLY.get(row.name, "\0") in str(error) else str(error)
            except Exception as error:
                if dtype == "float64" and any(word in str(error) for word in ("NOT_IMPLEMENTED", "not support double")):
                    continue  # a proper model, and no kernel for float64 in ONNX Runtime
                found = f"{type(error).__name__}: {error}"
            if found:
                failures.append(f"{row.name}{sample} by opset {opset}: {found}")
    assert not failures, "\n".join(failures)


def expressible(row, dtype):
    """Return whether a row is to be exported in a dtype."""
    return dtype in row.dtypes and find_mapping(row.name) is not None


def tried(row, long):
    """Return (dtype, opsets) of what one half tries with a row."""
    found = [(dtype, (18,)) for dtype in DTYPES if expressible(row, dtype) and long != (dtype in QUICK)]
    return found + [("float32", (19, 20, 21))] if long and expressible(row, "float32") else found


@pytest.mark.parametrize("row, long", [
    pytest.param(row, long, id=f"{row}, long" if long else str(row), marks=[pytest.mark.slow] if long else [])
    for row in ROWS for long in (False, True) if tried(row, long)])
def test_equals_eager(row, long):
    found = Subresults()
    for dtype, opsets in tried(row, long):
        found.attempt(f"{row} in {dtype}", functools.partial(check, row, dtype, opsets))
    found.finish()


def test_operators_without_expression_are_named():
    """A missing mapping is an error that names the operator."""
    names = sorted({row.name for row in ROWS if find_mapping(row.name) is None and "float32" in row.dtypes})
    assert "digamma" in names
    for row in ROWS:
        if row.name != "digamma":
            continue
        args, kwargs = bind(row, row.samples[0], "float32").map(engine.tensor)
        results = oracle.as_tuple(engine.operator(row)(*args, **kwargs))
        with pytest.raises(UnsupportedOperatorError, match="digamma") as caught:
            exported.export_call(row.name, args, kwargs, results)
        assert caught.value.operators == ["digamma"]
