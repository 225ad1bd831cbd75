"""Variables of strings beside genuine ones: kept, replaced, in functions, modules and checkpoints."""
import copy
import pickle

import pytest

from dragon.vm import tensorflow as ours
from harness.expressions import check
from harness.subresults import each

START = 'v = tf.Variable(["a", "bc"], name="w")\n'
PROGRAMS = """
[v.dtype == tf.string, v.shape.as_list(), v.name, v.trainable, isinstance(v, tf.Variable), tf.is_tensor(v), str(v)]
[v.numpy(), v.value(), v.read_value(), v + "x", v[0], tf.strings.length(v), tf.strings.join([v, "!"])]
[tf.identity(v), tf.concat([v, ["z"]], 0), tf.gather(v, [1]), tf.convert_to_tensor(v), v == tf.constant(["a", "q"])]
[one for one in v]
v.assign(["c"])
v.assign([1, 2])
v.assign_add(["q", "q"])
hash(v)
tf.Variable(["a"], dtype=tf.int32)
tf.Variable(1, dtype=tf.string)
tf.Variable("x").shape.as_list()
tf.Variable(["a"], dtype=tf.string, shape=[None]).assign(["a", "b"]).numpy()
tf.Variable(lambda: tf.constant(["a"])).numpy()
v.scatter_nd_update([[1]], ["m"]).numpy()
v.scatter_update(tf.IndexedSlices(tf.constant(["k"]), tf.constant([0]))).numpy()
"""
LONGER = {
    "old readings stay": "old, same = v.value(), tf.identity(v)\nv.assign(['x', 'y'])\nreturn old, same, v.numpy()",
    "functions read what there is": """
f = tf.function(lambda x: tf.strings.join([v, x]))
first = f(tf.constant("1"))
v.assign(["p", "q"])
return first, f(tf.constant("1"))""",
    "functions write": """
@tf.function
def f():
    v.assign(["e", "fgh"])
    return tf.strings.length(v)
return f(), v.numpy()""",
    "functions of numbers": """
f = tf.function(lambda x: tf.cast(tf.strings.length(v), tf.float32) * x)
first = f(tf.constant(2.))
v.assign(["pqr", ""])
return first, f(tf.constant(2.)), f(tf.constant(3.))""",
    "modules": """
class M(tf.Module):
    def __init__(self): self.names, self.w = tf.Variable(["a", "bc"]), tf.Variable(1.)
m = M()
with tf.GradientTape() as tape: y = m.w * 2
return [one.dtype.name for one in m.variables], tape.gradient(y, [m.w, m.names])""",
}


@each("text", PROGRAMS.strip().split("\n"))
def test_expressions(text):
    check(f"{START}return {text}")


@pytest.mark.parametrize("program", LONGER.values(), ids=LONGER)
def test_programs(program):
    check(START + program.strip())


def test_checkpoints_keep_them(tmp_path):
    v = ours.Variable(["a", "bc"])
    path = ours.train.Checkpoint(names=v).save(tmp_path / "kept")
    v.assign(["x", "y"])
    ours.train.Checkpoint(names=v).restore(path).assert_consumed()
    assert v.numpy().tolist() == [b"a", b"bc"]
    assert ours.train.load_checkpoint(path).get_tensor("names/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [b"a", b"bc"]


def test_they_are_copied_and_pickled():
    v = ours.Variable(["a"])
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        v.assign(["b"])
        assert other.numpy().tolist() in ([b"a"], [b"b"]) and other is not v and isinstance(other, ours.Variable)
        other.assign(["c"])
        assert v.numpy().tolist() == [b"b"]


def test_functions_say_why_they_are_no_graphs():
    v = ours.Variable(["a"])
    function = ours.function(lambda x: x + ours.cast(ours.strings.length(v)[0], ours.float32))
    assert function(ours.constant(1.0)).numpy() == 2
    assert function.fallback
    v.assign(["abc"])
    assert function(ours.constant(1.0)).numpy() == 4
