"""Operators that read examples of TFRecord files."""
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.examples import parsing
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import tensor

RESULTS = "sparse_indices sparse_values sparse_shapes dense_values ragged_values ragged_row_splits"


def _keys(value):
    return [key.decode() for key in array_of(tensor(value)).reshape(-1).tolist()]


def _dense_feature(node, key, dtype, shape, default):
    """Return what a feature of one shape, or of steps of one shape, is to the reader of examples."""
    default = tensor(default)
    given = default if default.shape.num_elements() else None
    if shape and shape[0] == -1:
        return parsing.FixedLenSequenceFeature(shape[1:], dtype, allow_missing=True, default_value=None if given is None
                                               else array_of(given).reshape(-1)[0])
    if shape is None or -1 in shape:
        raise UnimplementedError(None, None, f"saved_model: {node.op} of feature {key!r} with shape {shape} is not "
                                 f"supported (node '{node.name}' of function '{node.where}')")
    return parsing.FixedLenFeature(shape, dtype, given)


@operator("ParseExampleV2", RESULTS)
def _parse(node, serialized, names, sparse_keys, dense_keys, ragged_keys, *defaults):
    sparse_keys, dense_keys, ragged_keys = _keys(sparse_keys), _keys(dense_keys), _keys(ragged_keys)
    features = {}
    for key, dtype in zip(sparse_keys, node.get("sparse_types", [])):
        features[key] = parsing.VarLenFeature(dtype)
    for key, dtype, shape, default in zip(dense_keys, node.get("Tdense", []), node.get("dense_shapes", []), defaults):
        features[key] = _dense_feature(node, key, dtype, shape, default)
    for key, dtype, splits in zip(ragged_keys, node.get("ragged_value_types", []),
                                  node.get("ragged_split_types", [])):
        features[key] = parsing.RaggedFeature(dtype, row_splits_dtype=splits)
    found = parsing.parse_many(tensor(serialized), features) if features else {}
    return _results(found, sparse_keys, dense_keys, ragged_keys)


def _results(found, sparse_keys, dense_keys, ragged_keys=()):
    """Return features as an operator's results."""
    sparse = [found[key] for key in sparse_keys]
    ragged = [found[key] for key in ragged_keys]
    return ([one.indices for one in sparse], [one.values for one in sparse], [one.dense_shape for one in sparse],
            [found[key] for key in dense_keys], [getattr(one, "values", one) for one in ragged],
            [getattr(one, "row_splits", ops.zeros((0,), dtype="int64")) for one in ragged])


@operator("ParseSingleExample", "sparse_indices sparse_values sparse_shapes dense_values")
def _parse_single(node, serialized, *defaults):
    features = {}
    sparse_keys, dense_keys = node.get("sparse_keys", []), node.get("dense_keys", [])
    for key, dtype in zip(sparse_keys, node.get("sparse_types", [])):
        features[key] = parsing.VarLenFeature(dtype)
    for key, dtype, shape, default in zip(dense_keys, node.get("Tdense", []), node.get("dense_shapes", []), defaults):
        features[key] = _dense_feature(node, key, dtype, shape, default)
    found = parsing.parse_single(tensor(serialized), features)
    return _results(found, sparse_keys, dense_keys)[:4]
