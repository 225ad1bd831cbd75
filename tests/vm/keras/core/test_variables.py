"""Variables, dtypes, scopes, nested structures: as in genuine Keras."""
import collections

import numpy as np
import pytest
from harness.keras_programs import check
from harness.subresults import each

X = np.linspace(-1, 1, 6).reshape(2, 3).astype("float32")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "bfloat16", "float16", "float32", "float64", int, float,
          "complex64", None)
Pair = collections.namedtuple("Pair", "one two")
VARIABLES = {
    "of an array": lambda keras: [v := keras.Variable(X, name="v")] and [
        tuple(v.shape), v.dtype, v.name, v.path, v.trainable, v.ndim, v, v.aggregation, v.synchronization],
    "of an initializer": lambda keras: [v := keras.Variable("ones", shape=(2, 2), dtype="float64")] and [v, v.dtype],
    "of a number": lambda keras: [v := keras.Variable(3.5)] and [float(v), int(v), v.dtype, v],
    "of ints": lambda keras: [v := keras.Variable([1, 2, 3], trainable=False)] and [v.dtype, v],
    "assign": lambda keras: [v := keras.Variable(X)] and [v.assign(X * 2), v, v.assign_add(1.0), v.assign_sub(X), v],
    "arithmetic": lambda keras: [v := keras.Variable(X)] and [
        v + 1, 1 - v, v * v, v / 2, 2 / (v + 3), v ** 2, v // 0.3, v % 0.3, -v, abs(v), v @ X.T,
        v > 0, v <= 0, v == X, v != X, v[0], v[:, 1:]],
    "mixed dtypes": lambda keras: [v := keras.Variable([1, 2, 3])] and [
        v + 1.5, v * keras.ops.convert_to_tensor([1.0, 2.0, 3.0]), v / 2],
    "value": lambda keras: [v := keras.Variable(X)] and [v.value, keras.ops.convert_to_tensor(v), np.array(v)],
    "cast by a scope": lambda keras: [v := keras.Variable(X)] and [_autocast(keras, v)],
    "names": lambda keras: [keras.Variable(0.0).name, keras.Variable(0.0).name, _scoped(keras)],
    "repr": lambda keras: [repr(keras.Variable(X, name="x")), repr(keras.Variable([1], name="y"))],
    "stateless": lambda keras: _stateless(keras),
    "of other shapes": lambda keras: keras.Variable(X).assign(X[0]),
    "no shape": lambda keras: keras.Variable("ones"),
    "open shape": lambda keras: keras.Variable("ones", shape=(None, 2)),
    "slash": lambda keras: keras.Variable(X, name="a/b"),
    "aggregation": lambda keras: keras.Variable(X, aggregation="nonsense"),
    "truth": lambda keras: bool(keras.Variable(X)),
    "float of many": lambda keras: float(keras.Variable(X)),
    "regularizer": lambda keras: setattr(keras.Variable(X), "regularizer", 3),
    "constraint": lambda keras: setattr(keras.Variable(X), "constraint", 3),
}


def _autocast(keras, variable):
    class Layer(keras.layers.Layer):
        def call(self, x):
            return keras.ops.add(x, variable)
    return str(Layer(dtype="mixed_float16")(keras.ops.convert_to_tensor(X)).dtype).rpartition(".")[2].strip("'>")


def _scoped(keras):
    with keras.name_scope("outer"), keras.name_scope("inner"):
        return keras.Variable(0.0, name="w").path


def _stateless(keras):
    first, second = keras.Variable(X), keras.Variable([1.0])
    with keras.StatelessScope(state_mapping=[(first, keras.ops.zeros((2, 3)))]) as scope:
        second.assign([7.0])
        inside = [first + 0, second * 1]
    return [inside, first, second, scope.get_current_value(second)]


@each("name", VARIABLES)
def test_variables(name):
    check(VARIABLES[name])


def test_result_types_of_all_pairs():
    def program(keras):
        found = {}
        for first in DTYPES:
            for second in DTYPES:
                try:
                    found[str(first), str(second)] = keras.backend.result_type(first, second)
                except ValueError:
                    found[str(first), str(second)] = "refused"
        return found
    check(program)


def test_standard_dtypes():
    check(lambda keras: [keras.backend.standardize_dtype(dtype) for dtype in (
        *DTYPES, bool, "int", str, np.float32, np.dtype("int8"))])
    check(lambda keras: keras.backend.standardize_dtype("float31"))


STRUCTURES = ({"b": 1, "a": [2, {"c": 3}]}, [1, (2, None)], Pair(1, [2]), (), {}, [[], {}], 5, None,
              collections.OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(list, {"z": 1, "y": 2}))


@each("structure", STRUCTURES, ids=str)
def test_nested_structures(structure):
    def program(keras):
        tree = keras.tree
        leaves = tree.flatten(structure)
        return [leaves, tree.flatten_with_path(structure), tree.is_nested(structure), tree.lists_to_tuples(structure),
                tree.pack_sequence_as(structure, [leaf and leaf * 10 for leaf in leaves]),
                tree.map_structure(lambda x: (x,), structure),
                tree.map_structure(lambda x, y: (x, y), structure, structure),
                tree.traverse(lambda x: -x if isinstance(x, int) else None, structure),
                tree.assert_same_structure(structure, structure), tree.assert_same_paths(structure, structure)]
    check(program)


UNLIKE = (([1, 2], (1, 2)), ({"a": 1}, {"b": 1}), ([1], [1, 2]), (1, [1]), ([1], 1), ({"a": [1]}, {"a": 1}))


@pytest.mark.parametrize("first, second", UNLIKE, ids=str)
def test_structures_that_are_not_alike(first, second):
    check(lambda keras: keras.tree.assert_same_structure(first, second))
    check(lambda keras: keras.tree.map_structure(lambda x, y: 0, first, second))
    check(lambda keras: keras.tree.assert_same_paths(first, second))


def test_shapes_in_structures():
    check(lambda keras: [keras.tree.map_shape_structure(lambda shape: len(shape), structure) for structure in (
        (1, None), [2, 3], {"a": (1, 2), "b": [(3,), (4, 5, 6)]}, ((1, 2), (3,)))])


SYMBOLIC = {
    "operators": lambda x, keras: [x + 1, 1 - x, x * x, x / 2, 2 // x, x % 3, x ** 2, -x, abs(x), x > 0, x != x],
    "subscripts": lambda x, keras: [x[0], x[:, 0], x[..., 1], x[1:3, ::2], x[-1]],
    "reductions": lambda x, keras: [keras.ops.sum(x), keras.ops.mean(x, axis=0), keras.ops.argmax(x, axis=-1),
                                    keras.ops.max(x, axis=1, keepdims=True)],
    "shapes": lambda x, keras: [x.reshape((-1, 2)), keras.ops.expand_dims(x, 0), keras.ops.transpose(x),
                                keras.ops.concatenate([x, x], axis=1), keras.ops.stack([x, x])],
    "dtypes": lambda x, keras: [keras.ops.cast(x, "int32"), keras.ops.equal(x, x), keras.ops.cast(x, "bool")],
}


@each("shape", [(4, 4), (None, 4), (None, None)], ids=str)
@each("name", SYMBOLIC)
def test_symbolic_tensors(name, shape):
    def program(keras):
        found = SYMBOLIC[name](keras.KerasTensor(shape), keras)
        return [(x.shape, x.dtype) for x in found]
    check(program)


def test_symbolic_tensors_tell_of_themselves():
    check(lambda keras: [repr(keras.KerasTensor((None, 2), "int32", name="x")), repr(keras.Input((3,), name="y"))])
    check(lambda keras: keras.KerasTensor((2,), sparse=True, ragged=True))
    check(lambda keras: setattr(keras.KerasTensor((2,)), "shape", (3,)))
    check(lambda keras: np.asarray(keras.KerasTensor((2,))))


def test_settings():
    def program(keras):
        keras.config.set_floatx("float64")
        try:
            found = [keras.config.floatx(), keras.Variable("ones", shape=(2,)).dtype, keras.layers.Dense(2).dtype]
        finally:
            keras.config.set_floatx("float32")
        return [found, keras.config.epsilon(), keras.config.image_data_format(), keras.backend.backend()]
    check(program)
    check(lambda keras: keras.config.set_floatx("int32"))
    check(lambda keras: keras.config.set_image_data_format("sideways"))
