"""`tf.raw_ops`: operators by their own names, beside the genuine ones."""
import inspect

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine

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


@pytest.mark.parametrize("name", CALLS)
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


def test_refusals():
    with pytest.raises(TypeError, match="only takes keyword args"):
        ours.raw_ops.AddV2(1, 2)
    with pytest.raises(TypeError, match="tf.raw_ops.Sum: missing a required"):
        ours.raw_ops.Sum(input=[1])
    with pytest.raises(TypeError, match="Expected list for 'values'"):
        ours.raw_ops.Pack(values=1)
    with pytest.raises(AttributeError, match="raw_ops.*NoSuchOperator"):
        ours.raw_ops.NoSuchOperator
