"""Classes of the user's that are made of tensors, beside genuine TensorFlow's."""
import pickle
import typing

import pytest
from harness.expressions import check
from harness.subresults import each

import dragon.vm.tensorflow as tf

MASKED = """
class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    name: str = 'm'
    def total(self): return tf.reduce_sum(tf.where(self.mask, self.values, 0))
one, other = Masked([1, 2, 3], [True, False, True]), Masked([4, 5, 6], [True, True, False], name='o')
"""
ROWS = """
class Row(tf.experimental.BatchableExtensionType):
    a: tf.Tensor
    b: tf.Tensor
rows = Row([1, 2, 3, 4, 5], [[1.], [2.], [3.], [4.], [5.]])
"""

PROGRAMS = {
    "fields": MASKED + "return one.total(), one.values, one.mask, one.name, other.name",
    "by name": MASKED + "return Masked(mask=[True], values=[2.5]).values",
    "missing": MASKED + "return Masked([1])",
    "unknown": MASKED + "return Masked([1], [True], size=3)",
    "of another kind": MASKED + "return Masked([1], [True], name=3)",
    "no tensor": MASKED + "return Masked(object(), [True])",
    "set": MASKED + "one.name = 'x'",
    "set what is no field": MASKED + "one.size = 3",
    "deleted": MASKED + "del one.name",
    "equal": MASKED + "return one == one, one == other, one != other, one == 3",
    "text": MASKED + "return repr(Masked(tf.constant(1), tf.constant(True)))",
    "hashed": MASKED + "return hash(one)",
    "spec": MASKED + """spec = tf.type_spec_from_value(one)
return str(spec.values), str(spec.mask), spec.name, type(spec).__name__, spec.value_type is Masked, repr(spec)""",
    "specs that are alike": MASKED + """
wide = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool), 'm')
named = tf.type_spec_from_value(other)
return wide.is_compatible_with(one), wide.is_compatible_with(other), named.is_compatible_with(one), wide == named""",
    "a spec without a field": MASKED + """return Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool)).name""",
    "checks": """
class Line(tf.experimental.ExtensionType):
    x: tf.Tensor
    def __validate__(self):
        tf.debugging.assert_rank(self.x, 1)
Line([1])
Line(1)""",
    "own constructor": """
class Pair(tf.experimental.ExtensionType):
    low: tf.Tensor
    high: tf.Tensor
    def __init__(self, center, width=2.0):
        self.low = center - width
        self.high = center + width
pair = Pair(tf.constant(5.0))
return pair.low, pair.high""",
    "own constructor that forgets": """
class Pair(tf.experimental.ExtensionType):
    low: tf.Tensor
    high: tf.Tensor
    def __init__(self, center):
        self.low = center
Pair(tf.constant(5.0))""",
    "of a class below": MASKED + """
class More(Masked):
    size: int = 3
    def twice(self): return self.total() * 2
more = More([1, 2], [True, True])
return more.twice(), more.size, isinstance(more, Masked)""",
    "nested": """
import typing
class Inner(tf.experimental.ExtensionType):
    a: tf.Tensor
    sizes: typing.Tuple[int, ...] = (1, 2)
class Outer(tf.experimental.ExtensionType):
    inner: Inner
    others: typing.Tuple[Inner, ...]
    table: typing.Mapping[str, tf.Tensor]
    either: typing.Union[float, str] = 1.0
    maybe: typing.Optional[tf.Tensor] = None
outer = Outer(Inner([1]), [Inner([2]), Inner([3])], {'k': 4}, 'x')
return outer.inner.a, outer.others[1].a, outer.table['k'], outer.either, outer.inner.sizes, outer.maybe is None""",
    "an annotation that no field has": """
class Odd(tf.experimental.ExtensionType):
    items: list""",
    "a spec as an annotation": """
class Image(tf.experimental.ExtensionType):
    pixels: tf.TensorSpec([None, None], tf.float32)
return Image([[1, 2]]).pixels, Image([1.0])""",
    "a function": MASKED + """
traces = []
@tf.function
def double(m):
    traces.append(1)
    return Masked(m.values * 2, m.mask, m.name)
found = [double(one), double(Masked([7, 8, 9], [True] * 3)), double(other)]
return [(m.values, m.name) for m in found], len(traces)""",
    "a branch": MASKED + """
@tf.function
def f(m, up):
    if up: m = Masked(m.values + 1, m.mask)
    else: m = Masked(m.values - 1, m.mask)
    return m
return f(one, tf.constant(True)).values, f(one, tf.constant(False)).values""",
    "a loop": MASKED + """
@tf.function
def f(m):
    for i in tf.range(3): m = Masked(m.values + i, m.mask)
    return m.total()
return f(one)""",
    "a gradient": MASKED + """
x = tf.constant([1., 2.])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(Masked(x * x, [True, True]).values)
return tape.gradient(y, x)""",
    "rows": ROWS + """
found = list(tf.data.Dataset.from_tensor_slices(rows).batch(2))
return [row.a for row in found], [row.b for row in found], len(found)""",
    "rows that are mapped": ROWS + """
data = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: Row(row.a * 2, row.b)).filter(lambda row: row.a > 4)
return [row.a for row in data], str(data.element_spec.a)""",
    "rows and no rows": ROWS + """
data = tf.data.Dataset.from_tensor_slices(rows).batch(2).unbatch().take(3)
return [(row.a, row.b) for row in data]""",
    "map_fn": ROWS + """
found = tf.map_fn(lambda row: Row(row.a + 1, row.b * 2), rows)
return found.a, found.b""",
    "map_fn to tensors": ROWS + """
return tf.map_fn(lambda row: tf.reduce_sum(row.b), rows, fn_output_signature=tf.float32)""",
    "map_fn to rows": ROWS + """
found = tf.map_fn(lambda x: Row(x, tf.cast(x, tf.float32)), tf.range(3),
                  fn_output_signature=Row.Spec(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)))
return found.a, found.b""",
    "another function for one of two arguments": MASKED + """
@tf.experimental.dispatch_for_api(tf.math.add, {'x': Masked, 'y': Masked})
def add(x, y, name=None): return Masked(tf.add(x.values, y.values), x.mask & y.mask)
found = tf.add(one, other), tf.math.add(one, other), tf.add(1, 2)
tf.experimental.unregister_dispatch_for(add)
return found[0].values, found[1].mask, found[2]""",
    "another function by annotations": MASKED + """
import typing
@tf.experimental.dispatch_for_api(tf.stack)
def stack(values: typing.List[typing.Union[Masked, tf.Tensor]], axis=0):
    return Masked(tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis))
found = tf.stack([one, other]), tf.stack([tf.constant(1), tf.constant(2)])
tf.experimental.unregister_dispatch_for(stack)
return found[0].values, found[0].mask, found[1]""",
    "another function with other parameters": MASKED + """
@tf.experimental.dispatch_for_api(tf.math.add, {'x': Masked})
def add(a, b): return a""",
    "no longer": MASKED + """
def add(x, y): return x
tf.experimental.unregister_dispatch_for(add)""",
    "all of one argument": MASKED + """
@tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
def unary(function, x): return Masked(function(x.values), x.mask)
found = tf.abs(Masked([-1], [True])), tf.cast(one, tf.float32), tf.nn.relu(Masked([-1., 2.], [True] * 2))
tf.experimental.unregister_dispatch_for(unary)
return [m.values for m in found]""",
    "all of two arguments": MASKED + """
@tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
def binary(function, x, y): return Masked(function(x.values, y.values), x.mask & y.mask)
found = tf.math.multiply(one, other), tf.maximum(one, other)
tf.experimental.unregister_dispatch_for(binary)
return [(m.values, m.mask) for m in found]""",
}


@each("name", PROGRAMS)
def test_beside_tensorflow(name):
    check(PROGRAMS[name])


class Point(tf.experimental.ExtensionType):
    x: tf.Tensor
    y: tf.Tensor
    tags: typing.Mapping[str, int] = {}


def test_pickled():
    point = Point(1.0, 2.0, {"a": 3})
    again = pickle.loads(pickle.dumps(point))
    assert bool(again == point) and again.tags == {"a": 3}
    assert pickle.loads(pickle.dumps(tf.type_spec_from_value(point))) == tf.type_spec_from_value(point)


def test_functions_with_such_arguments_are_graphs():
    @tf.function
    def f(point):
        return Point(point.y, point.x)
    for _ in range(3):
        found = f(Point(1.0, 2.0))
    assert float(found.x) == 2.0 and f.fallback is None and f.experimental_get_tracing_count() == 1


class Tree(tf.experimental.ExtensionType):
    """A number, and trees."""

    value: tf.Tensor
    branches: typing.Tuple["Tree", ...] = ()
    twin: typing.Optional["Tree"] = None


def test_a_type_of_itself():
    """A field may be of the class that is being made, by its name, however deep within an annotation."""
    made = Tree(3, [Tree(5, twin=Tree(1)), Tree(2)])
    assert [branch.value.numpy() for branch in made.branches] == [5, 2] and made.branches[0].twin.value.numpy() == 1

    @tf.function
    def total(tree):
        return tree.value + sum(branch.value for branch in tree.branches)
    assert total(made).numpy() == 10 and total(Tree(3, [Tree(4)])).numpy() == 7
    with pytest.raises(TypeError, match="branches"):
        Tree(3, [4])


BATCHES = """
class M(tf.experimental.BatchableExtensionType):
    a: tf.Tensor
    b: tf.RaggedTensor
    s: tf.TensorShape
    k: str
E, m = tf.experimental.ExtensionTypeBatchEncoder(), M([1, 2, 3], tf.ragged.constant([[1], [2, 3], []]), [3], "z")
spec = tf.type_spec_from_value(m)
"""


@pytest.mark.parametrize("text", ["E.batch(spec, 7)", "E.batch(spec, None)", "E.unbatch(spec)", "E.encode(spec, m)",
                                  "E.encoding_specs(spec)", "E.decode(spec, E.encode(spec, m))"])
def test_encoders_of_batches(text):
    check(f"{BATCHES}\nreturn str({text})")


def test_encoders_are_the_one_there_is():
    class Other(tf.experimental.ExtensionTypeBatchEncoder):
        def encode(self, spec, value, minimum_rank=0):
            return [value.x]

    def make(encoder):
        return type("Made", (tf.experimental.BatchableExtensionType,),
                    {"__batch_encoder__": encoder, "__annotations__": {"x": tf.Tensor}})
    rows = tf.data.Dataset.from_tensor_slices(make(tf.experimental.ExtensionTypeBatchEncoder())([1, 2, 3])).batch(2)
    assert [one.x.numpy().tolist() for one in rows] == [[1, 2], [3]]
    for wrong in (Other(), 3):
        with pytest.raises(NotImplementedError, match="got __batch_encoder__=.*, expected an Ext"):
            make(wrong)
