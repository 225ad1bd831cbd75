"""Concrete functions: how they are called and told, and graphs that genuine TensorFlow imports and runs."""
import numpy as np
import pytest

from dragon.vm import tensorflow as tf
from harness import genuine
from harness.expressions import check
from harness.subresults import each

POWER = """
@tf.function
def power(a, b): return a ** b
square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
"""
MANY = """
@tf.function
def f(x, y=2, *, z=None): return {"a": x * 3., "b": [tf.nn.relu(x) * float(y), y]}
c = f.get_concrete_function(tf.TensorSpec([None, 3], tf.float32, name="inp"), z=tf.constant(1.))
d = f.get_concrete_function(tf.TensorSpec([None, 3], tf.float32), 5)
x, one = tf.ones([1, 3]), tf.constant(1.)
"""
PROGRAMS = {
    "constant": POWER + "return [square(tf.constant(3.), b=2), square(tf.constant(3.), 2), square(a=tf.constant(3.))]",
    "another constant": POWER + "return square(tf.constant(3.), b=3)",
    "another constant by position": POWER + "return square(tf.constant(3.), 3)",
    "another kind of constant": POWER + "return square(tf.constant(3.), 2.5)",
    "nothing": POWER + "return square()",
    "a list": POWER + "return square([3.])",
    "another dtype": POWER + "return square(tf.constant(3))",
    "unknown rank": POWER + """
return [square.structured_outputs.shape.rank is None, square.structured_outputs.dtype.name,
        square(tf.constant([[1., 2.]]))]""",
    "names of specs": MANY + """return [c(inp=x, z=one)["a"], c(x, one)["b"], c(x, 2, z=one)["a"]]""",
    "name of the parameter": MANY + "return c(x=x, z=one)",
    "one too few": MANY + "return c(x)",
    "one too many": MANY + "return c(x, q=1, z=one)",
    "two for one": MANY + "return c(x, inp=x, z=one)",
    "default": MANY + "return d(x)['b']",
    "signature": MANY + "return [repr(one.structured_input_signature) for one in (c, d)]",
    "one line": MANY + "return [one.pretty_printed_signature(verbose=False) for one in (c, d)]",
    "lines": MANY + "return [one.pretty_printed_signature() for one in (c, d)]",
    "text": MANY + "return [str(c), repr(d).split(' at 0x')[0]]",
    "all": MANY + POWER + """
power(tf.constant([1.]), tf.constant([2.]))
return [sorted(one.pretty_printed_concrete_signatures().split("\\n\\n")) for one in (f, power)]""",
    "branches": """
@tf.function
def f(x): return tf.cond(tf.reduce_sum(x) > 0, lambda: {"a": x * 2}, lambda: {"a": x - 1})
c = f.get_concrete_function(tf.TensorSpec([None, 3]))
return [c.structured_outputs["a"].shape.as_list(), c.output_dtypes["a"], c(tf.ones([2, 3]))["a"]]""",
    "loops": """
@tf.function
def f(x):
    i = tf.constant(0)
    while i < tf.shape(x)[0]:
        x += 1.
        i += 1
    return i, tf.map_fn(lambda row: tf.reduce_sum(row), x)
c = f.get_concrete_function(tf.TensorSpec([None, 3]))
return [[one.shape.as_list() for one in c.structured_outputs], c(tf.ones([2, 3]))]""",
    "branches are traced once": """
log = []
@tf.function
def f(x):
    log.append("before")
    if tf.reduce_sum(x) > 0: x *= 2
    log.append("after")
    return x
c = f.get_concrete_function(tf.TensorSpec([None, 3]))
return [list(log), c.structured_outputs.shape.as_list(), c(tf.ones([2, 3])), f(tf.ones([4, 3])), list(log),
        f.experimental_get_tracing_count()]""",
    "branches that do not fit": """
@tf.function
def f(x): return tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: tf.cast(x, tf.int32))
return f.get_concrete_function(tf.TensorSpec([None, 3]))""",
    "nested": """
@tf.function
def f(pair, names): return pair[0] + names["k"], pair
c = f.get_concrete_function((tf.TensorSpec([2]), tf.TensorSpec([])), {"k": tf.TensorSpec([2])})
return [c.pretty_printed_signature(False), list(c((tf.ones([2]), tf.constant(2.)), {"k": tf.ones([2])})[1])]""",
    "variables": """
v, w = tf.Variable(2., name="v"), tf.Variable([1., 2.], trainable=False, name="w")
unread = tf.Variable(3.)
@tf.function
def f(x): return x * w + v
c = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
return [sorted(one.name for one in c.variables), [one.name for one in c.trainable_variables]]""",
    "method": """
class A(tf.Module):
    @tf.function
    def f(self, x, k=3): return x * k
a = A()
c = a.f.get_concrete_function(tf.TensorSpec([], tf.int32))
return [repr(c.structured_input_signature), c(tf.constant(2))]""",
}


def make_told(tf):
    """Return a function that prints and checks."""
    def told(x):
        tf.print("x is", x)
        tf.debugging.assert_less(x, 2.0)
        return x * 2.0
    return told


GRAPHS = {
    "scale": (lambda tf: lambda x: x * 2.0 + 1.0, [([None, 3], "float32")]),
    "layer": (lambda tf: lambda x: tf.nn.softmax(tf.nn.relu(tf.matmul(x, tf.ones([3, 4])) - 1.0)), [([None, 3],
                                                                                                     "float32")]),
    "sums": (lambda tf: lambda x, y: {"a": tf.reduce_sum(x, 1), "b": [tf.reduce_max(y), x + y]},
             [([2, 3], "float32"), ([2, 3], "float32")]),
    "split": (lambda tf: lambda x: tf.split(x, 3, 1)[1:] + [tf.transpose(x)], [([2, 3], "float32")]),
    "compare": (lambda tf: lambda x: (tf.where(x > 0.5, x, -x), tf.cast(x > 0.5, tf.int32)), [([None], "float32")]),
    "any rank": (lambda tf: lambda x: tf.tanh(x) * x, [(None, "float32")]),
    "branch": (lambda tf: lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: (x * 2, x), lambda: (x, -x)),
               [([None], "float32")]),
    "loop": (lambda tf: lambda x: tf.map_fn(lambda row: tf.tanh(row) * 2, x), [([None, 3], "float32")]),
    "told": (make_told, [([None], "float32")]),
}


@each("name", PROGRAMS)
def test_concrete(name):
    check(PROGRAMS[name])


def arguments(specs, size=2):
    chance = np.random.RandomState(3)
    return [chance.rand(*((2, 3) if shape is None else [size if one is None else one for one in shape])).astype(dtype)
            for shape, dtype in specs]


@each("name", GRAPHS)
def test_graph_imported(name):
    make, specs = GRAPHS[name]
    concrete = tf.function(make(tf)).get_concrete_function(*(tf.TensorSpec(*spec) for spec in specs))
    graph, guest = concrete.graph, genuine.tf
    message = guest.compat.v1.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    imported = guest.Graph()
    with imported.as_default():
        guest.import_graph_def(message, name="")
    assert [one.name for one in imported.get_operations()] == [one.name for one in graph.get_operations()]
    assert [one.type for one in imported.get_operations()] == [one.type for one in graph.get_operations()]
    for ours, theirs in zip(graph.get_operations(), imported.get_operations()):
        assert [one.name for one in ours.inputs] == [one.name for one in theirs.inputs]
        assert [(one.name, one.dtype.name) for one in ours.outputs] == [(one.name, one.dtype.name)
                                                                        for one in theirs.outputs]
        assert all(one.shape.is_compatible_with(other.shape.as_list() if other.shape.rank is not None else None)
                   for one, other in zip(ours.outputs, theirs.outputs))
    values = arguments(specs)
    with guest.compat.v1.Session(graph=imported) as session:
        found = session.run([one.name for one in graph.outputs],
                            {one.name: value for one, value in zip(graph.inputs, values)})
    expected = guest.nest.flatten(make(guest)(*map(guest.constant, values)))
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other.numpy(), 1e-5, 1e-6)


def test_graph_variables():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    concrete = tf.function(lambda x: x @ v).get_concrete_function(tf.TensorSpec([None, 2], name="inp"))
    graph = concrete.graph
    (captured, placeholder), = graph.captures
    assert captured is v and placeholder.dtype.name == "resource" and graph.variables[0] is v
    message = genuine.tf.compat.v1.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    assert {one.name for one in message.node if one.op == "Placeholder"} == {"inp", placeholder.op.name}


def test_graph_asked():
    graph = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([None, 2], name="inp")).graph
    tensor = graph.get_tensor_by_name("inp:0")
    assert tensor is graph.inputs[0] and tensor.op is graph.get_operation_by_name("inp")
    assert [one.type for one in tensor.consumers()] == ["AddV2"] and tensor.shape.as_list() == [None, 2]
    assert tensor.op.get_attr("dtype") is tf.float32 and tensor.op.get_attr("shape").dim[1].size == 2
    assert graph.structured_outputs is graph.outputs[0] and graph.outputs[0].shape.as_list() == [None, 2]
    for call, kind, words in ((lambda: graph.get_operation_by_name("no"), KeyError, "not in the graph"),
                              (lambda: graph.get_tensor_by_name("no:0"), KeyError, "does not exist"),
                              (lambda: graph.get_tensor_by_name("inp:1"), KeyError, "only has 1 outputs"),
                              (lambda: graph.get_tensor_by_name("inp"), ValueError, "refers to an Operation"),
                              (lambda: tensor.op.get_attr("no"), ValueError, "no attr named 'no'"),
                              (lambda: tensor.numpy(), AttributeError, "numpy")):
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.parametrize("make", [lambda tf: lambda x: x + x, lambda tf: lambda x: tf.strings.join([x, "b"])])
def test_strings(make):
    found = [module.function(make(module)).get_concrete_function(module.constant(["a"])) for module in (tf, genuine.tf)]
    ours, theirs = (one.pretty_printed_signature() for one in found)
    assert ours == theirs


def test_printed_once(capsys):
    @tf.function
    def loud(x):
        print("traced with", x)
        return x * 2
    loud(tf.constant([1.0]))
    before = capsys.readouterr().out
    assert before.count("traced with") == 1
    assert "TensorSpec(shape=(1,)" in loud.pretty_printed_concrete_signatures()
    concrete = loud.get_concrete_function(tf.constant([1.0]))
    assert concrete.variables == () and len(concrete.graph.get_operations()) == 4
    assert capsys.readouterr().out == ""


def test_functions_of_names_of_files(tmp_path):
    """A function that reads a file is asked for before there is one: a spec of a text names none."""
    (tmp_path / "text").write_text("some words")

    @tf.function
    def read(x):
        if x.dtype == tf.string:
            x = tf.io.read_file(x)
        return x
    made = read.get_concrete_function(tf.TensorSpec([], tf.string))
    assert made(tf.constant(str(tmp_path / "text"))).numpy() == b"some words"
    with pytest.raises(tf.errors.NotFoundError):
        read(tf.constant(str(tmp_path / "none")))


def test_graphs_tell_which_result_is_read():
    """A node has several results by names; whoever reads the second is not shown as reading the first."""
    made = tf.function(lambda x: tf.math.top_k(x, 2)[1]).get_concrete_function(tf.TensorSpec([3]))
    found = [one.name for operation in made.graph.get_operations() for one in operation.inputs]
    assert any(name.startswith("TopKV2") and name.endswith(":1") for name in found), found
