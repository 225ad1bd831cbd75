"""`tf.raw_ops`: operators by their own names, beside the genuine ones."""
import inspect

import numpy as np
import pytest

from dragon.dialects.tensorflow.signatures import lines, parts_of
from dragon.vm import tensorflow as ours
from dragon.vm.tensorflow.core.saved_model.arguments import Argument
from harness import genuine
from harness.subresults import each

IMAGE = np.arange(32, dtype="float32").reshape(1, 4, 4, 2)
CALLS = {
    "AddV2": {"x": [1.5, 2.0], "y": 3},
    "ArgMax": {"input": [[1, 5], [7, 2]], "dimension": 1},
    "BroadcastTo": {"input": [1, 2], "shape": [2, 2]},
    "Bincount": {"arr": [1, 1, 2], "size": 4, "weights": np.array([], "int32")},
    "Cast": {"x": [1.7, -1.7], "DstT": "int32"},
    "ConcatV2": {"values": [[1, 2], [3]], "axis": 0},
    "Conv2D": {"input": IMAGE, "filter": np.ones((2, 2, 2, 1), "float32"), "strides": [1, 1, 1, 1], "padding": "SAME"},
    "Cumsum": {"x": [1, 2, 3], "axis": 0, "reverse": True},
    "ExpandDims": {"input": [1, 2], "axis": 1},
    "Fill": {"dims": [2, 2], "value": 7},
    "GatherV2": {"params": [1, 2, 3], "indices": [2, 0], "axis": 0},
    "MatMul": {"a": [[1.0, 2.0]], "b": [[3.0, 4.0]], "transpose_b": True},
    "MatrixBandPart": {"input": np.ones((3, 3), "float32"), "num_lower": 0, "num_upper": -1},
    "MatrixDiagPartV2": {"input": np.arange(12.0).reshape(3, 4), "k": [-1, 1], "padding_value": -1.0},
    "MatrixDiagV2": {"diagonal": [[8.0, 9.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 0.0]], "k": [-1, 1], "num_rows": 3,
                     "num_cols": 3, "padding_value": 0.0},
    "MatrixSetDiagV2": {"input": np.ones((3, 3), "float32"), "diagonal": [[8.0, 9.0, 0.0], [1.0, 2.0, 3.0],
                                                                          [4.0, 5.0, 0.0]], "k": [-1, 1]},
    "MaxPoolWithArgmax": {"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
    "OneHot": {"indices": [0, 2], "depth": 3, "on_value": 1.0, "off_value": 0.0},
    "Pack": {"values": [[1, 2], [3, 4]], "axis": 1},
    "RaggedRange": {"starts": [0, 2], "limits": [2, 3], "deltas": [1, 1]},
    "ResizeBilinear": {"images": IMAGE, "size": [2, 3], "align_corners": True},
    "ReverseV2": {"tensor": [1, 2, 3], "axis": [0]},
    "Select": {"condition": [True, False], "x": [1, 2], "y": [3, 4]},
    "Shape": {"input": IMAGE},
    "Split": {"axis": 0, "value": [1, 2, 3, 4], "num_split": 2},
    "Squeeze": {"input": [[1]], "axis": [0]},
    "StringJoin": {"inputs": ["a", "b"], "separator": "-"},
    "StringToHashBucketFast": {"input": ["a", "b"], "num_buckets": 10},
    "Sum": {"input": [[1, 2], [3, 4]], "axis": 1, "keep_dims": True},
    "TensorScatterAdd": {"tensor": [1, 2, 3], "indices": [[0], [2]], "updates": [10, 20]},
    "TopKV2": {"input": [3.0, 1.0, 2.0], "k": 2},
    "Unique": {"x": [3, 1, 3]},
    "UnsortedSegmentSum": {"data": [1, 2, 3], "segment_ids": [0, 1, 0], "num_segments": 2},
    "Where": {"condition": [True, False, True]},
}


def flat(value):
    """Return a result's arrays."""
    return [np.asarray(part.numpy()) for part in (value if isinstance(value, (list, tuple)) else [value])]


@each("name", CALLS)
def test_as_genuine(name):
    mine, theirs = getattr(ours.raw_ops, name)(**CALLS[name]), getattr(genuine.tf.raw_ops, name)(**CALLS[name])
    assert isinstance(mine, tuple) == isinstance(theirs, tuple) and getattr(mine, "_fields", 0) == getattr(
        theirs, "_fields", 0)
    for one, other in zip(flat(mine), flat(theirs), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert (one == other).all() if one.dtype.kind in "OS" else np.allclose(one, other, atol=1e-5)


def test_signatures_are_genuine():
    names = [name for name in dir(ours.raw_ops) if name[0].isupper()]
    assert len(names) > 400
    for name in names:
        mine, theirs = (inspect.signature(getattr(side.raw_ops, name)) for side in (ours, genuine.tf))
        assert list(mine.parameters) == list(theirs.parameters), name


def test_types_and_values_are_genuine():
    """What the table says that inputs and attributes may be stands in the definitions of genuine TensorFlow's too."""
    from tensorflow.core.framework import types_pb2
    from tensorflow.python.framework import op_def_registry

    def bound(attribute):
        allowed = attribute.allowed_values.list
        dtypes = [types_pb2.DataType.Name(kind)[3:].lower() for kind in allowed.type]
        return dtypes or [word.decode() for word in allowed.s]
    kinds = {"int": "int", "float": "float", "bool": "bool", "string": "str", "list(int)": "[int]"}
    for name in ours.raw_ops.__dir__():
        if not name[0].isupper():
            continue
        theirs = op_def_registry.get(name) or getattr(genuine.tf.raw_ops, name) and op_def_registry.get(name)
        attributes = {attribute.name: attribute for attribute in theirs.attr}
        for argument in map(Argument, parts_of(lines()[name])):
            told = attributes.get(argument.dtype if argument.is_input else argument.attribute)
            if told is None:
                assert argument.fixed.name in ("string", "variant") or argument.fixed.name[0] in "bfiu", name
                continue
            if argument.values:
                assert set(argument.values) == set(bound(told)), f"{name}.{argument.name}"
            if told.type in kinds and not argument.is_input:
                assert argument.type == kinds[told.type], f"{name}.{argument.name}"
                assert (argument.least or 0) == told.minimum, f"{name}.{argument.name}"


def test_results_have_genuine_names():
    from tensorflow.python.framework import op_def_registry

    for name, line in lines().items():
        results = op_def_registry.get(name).output_arg
        assert line.results == tuple(result.name for result in results), name
        assert line.is_list == (len(results) == 1 and bool(results[0].number_attr or results[0].type_list_attr)), name


VALUES = (2, 2.0, 2.5, True, "2", b"2", "SAME", b"SAME", "same", None, np.int64(2), np.float32(2), np.array(2), [2],
          (2,), np.bool_(True), 2**70, float("nan"), object, {}, range(1, 5), [1, 2.0, 2, 1], [1, "2", 2, 1],
          [1, None, 2, 1], 1j)
FILTER = np.ones((2, 2, 2, 1), "float32")
PLACES = {
    "list": ("Conv2D", {"input": IMAGE, "filter": FILTER, "padding": "SAME"}, "strides"),
    "bool": ("Sum", {"input": IMAGE, "axis": 0}, "keep_dims"),
    "float": ("ApproximateEqual", {"x": IMAGE, "y": IMAGE}, "tolerance"),
    "str": ("Conv2D", {"input": IMAGE, "filter": FILTER, "strides": [1, 1, 1, 1]}, "padding"),
    "int": ("Unpack", {"value": np.ones((2, 3), "float32"), "axis": 0}, "num"),
}


@pytest.mark.parametrize("place", PLACES)
def test_attributes_are_taken_as_genuine(place):
    op, others, name = PLACES[place]
    for value in VALUES:
        answers = []
        for side in (ours, genuine.tf):
            try:
                answers.append(("gives", np.asarray(getattr(side.raw_ops, op)(**others, **{name: value})).shape))
            except Exception as error:
                answers.append(("raises", f"{type(error).__name__}: {error}".partition("\n")[0]))
        mine, theirs = answers
        assert mine == theirs if "Expected" in str(theirs) or theirs[0] == "gives" else mine[0] == "raises", value


def test_inputs_of_another_dtype_are_refused():
    for side in (ours, genuine.tf):
        with pytest.raises(side.errors.InvalidArgumentError, match="cannot compute AddV2 as input #1.zero-based. was "
                           "expected to be a int32 tensor but is a float tensor"):
            side.raw_ops.AddV2(x=side.constant(1), y=side.constant(1.0))
        with pytest.raises(side.errors.InvalidArgumentError, match="Value for attr 'T' of int32 is not in the list of "
                           "allowed values: bfloat16, half, float, double"):
            side.raw_ops.BesselI0(x=side.constant(1))


def test_refusals():
    with pytest.raises(TypeError, match="only takes keyword args"):
        ours.raw_ops.AddV2(1, 2)
    with pytest.raises(TypeError, match="tf.raw_ops.Sum: missing a required"):
        ours.raw_ops.Sum(input=[1])
    with pytest.raises(TypeError, match="Expected list for 'values'"):
        ours.raw_ops.Pack(values=1)
    with pytest.raises(AttributeError, match="raw_ops.*NoSuchOperator"):
        ours.raw_ops.NoSuchOperator
