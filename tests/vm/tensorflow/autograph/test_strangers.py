"""What programs of strangers do within `tf.function` that went wrong once, beside genuine TensorFlow."""
import pytest
from harness.expressions import check
from harness.subresults import each

from dragon.vm import tensorflow as tf
from dragon.vm.shared.recording import function

PROGRAMS = {
    "what is done once, outside of the graph": """
class Model(tf.Module):
    def __init__(self): self.v, self.count = tf.Variable(0), 0
    @tf.function
    def __call__(self):
        if self.count == 0:
            with tf.init_scope():
                self.count += 1
                self.v.assign_add(1)
        return self.v
m = Model()
return [m().numpy() for _ in range(3)]""",
    "what is done once, in a branch": """
w, seen = tf.Variable(1.), []
@tf.function
def f(x):
    if x > 0:
        with tf.init_scope():
            w.assign_add(1.)
            seen.append([w.numpy(), tf.executing_eagerly()])
        y = x * w
    else: y = x
    return y
return [*(f(tf.constant(v)) for v in (2., 3., -3.)), w.numpy(), seen]""",
    "variables made once, outside of the graph": """
box = []
@tf.function
def f(x):
    if not box:
        with tf.init_scope(): box.append(tf.Variable(tf.ones(2)))
    return x * box[0]
return [f(tf.ones(2)), f(tf.ones(2) * 3)]""",
    "an argument of any length that grows in a loop": """
@tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
def f(x, n):
    for _ in tf.range(n): x = tf.concat([x, x], 0)
    return x
return [f(tf.ones(2), tf.constant(2)), f(tf.ones(3), tf.constant(1))]""",
    "shapes that tensors tell, which grow in loops": """
@tf.function
def f(n):
    x = tf.zeros([n])
    for i in tf.range(2): x = tf.concat([x, [1.]], 0)
    return x
@tf.function
def g(n):
    x, i = tf.range(n), tf.constant(0)
    while i < 3:
        x = tf.concat([x, [i]], 0)
        i += 1
    return x
@tf.function
def h(v):
    x, i = tf.boolean_mask(v, v > 0), tf.constant(0)
    while i < 3:
        x = tf.concat([x, [1.]], 0)
        i += 1
    return x
return [f(tf.constant(2)), f(tf.constant(3)), g(tf.constant(2)), h(tf.constant([1., -1.]))]""",
    "known shapes that grow in loops": """
@tf.function
def f(n):
    x = tf.zeros([0])
    for i in tf.range(n): x = tf.concat([x, [1.]], 0)
    return x
return f(tf.constant(2))""",
    "no round of a loop that would make another shape": """
@tf.function
def f(n):
    i = 0
    while i < n:
        v = tf.range(i)
        i += 1
    return v
return f(tf.constant(0))""",
    "the variable of a loop over nothing": """
@tf.function
def f(n):
    for i in tf.range(n): pass
    return i
@tf.function
def g(n):
    for i in tf.range(5, n): pass
    return i
return [f(0), g(7)]""",
    "another dtype in a loop over a dataset": """
@tf.function
def f(ds):
    n = tf.constant(0)
    for _ in ds: n = tf.constant(0.)
    return n
return f(tf.data.Dataset.range(3))""",
    "another structure in a loop over a dataset's iterator": """
@tf.function
def f(it):
    s = [tf.constant(0)]
    for _ in it: s = s + [tf.constant(0)]
    return s
return f(iter(tf.data.Dataset.range(3)))""",
    "another shape in a loop over a dataset": """
@tf.function
def f(ds):
    t = tf.constant([1])
    for _ in ds: t = tf.constant([1, 1])
    return t
return f(tf.data.Dataset.range(3))""",
    "the end of an iterator": """
@tf.function
def f(ds, go):
    it = iter(ds)
    while go: next(it)
f(tf.data.Dataset.range(3), tf.constant(True))""",
    "elements that are skipped": """
@tf.function
def f(it, n):
    for _ in tf.range(n): next(it)
    next(it)
    return n
it = iter(tf.data.Dataset.range(9))
return [f(it, tf.constant(1)), f(it, tf.constant(2)), next(it)]""",
    "texts in claims": """
@tf.function
def f(x):
    n = 0
    while n < x:
        y = {'a': n}
        n += 1
    return y['a']
try: f(tf.constant(0))
except tf.errors.InvalidArgumentError as error: return "initialize y" in str(error)""",
    "Python's functions, at each run": """
log = []
@tf.function
def f(x):
    tf.py_function(lambda: log.append('f'), [], [])
    tf.numpy_function(lambda a: log.append(a.tolist()), [x], [])
    for i in tf.range(2): tf.py_function(lambda n: log.append(n.numpy().tolist()), [i], [])
    return x
@tf.function
def g(x): return x + tf.py_function(lambda: (log.append('g'), 1.)[1], [], tf.float32)
found = [f(tf.constant(1.)), f(tf.constant(2.)), g(tf.constant(1.)), g(tf.constant(2.))]
return [found, log]""",
    "loops within `with`, within a branch": """
@tf.function
def f(x):
    if x > 0:
        with tf.name_scope('a'):
            for _ in tf.range(3): x = x * 2
            if x > 7: x = x + 1
    return x
return [f(tf.constant(1)), f(tf.constant(-1))]""",
    "parameters of functions that have the names of others": """
@tf.function
def f(v, n):
    for e in tf.range(n):
        if e > 1:
            v = tf.map_fn(lambda e: e + n, v)
        s = sum([i for i in (1, 2)])
        v = v * s
        for i in tf.range(2): v = v + i
    return v
return f(tf.constant([1, 2]), tf.constant(3))""",
    "names that are deleted": """
@tf.function
def f(x):
    y = x + 1
    del y
    if x > 0:
        y = x
        z = y * 2
        del y
    else: z = x
    del gone
    return z
return [f(tf.constant(1)), f(tf.constant(-1))]""",
    "a deleted name that is read": """
@tf.function
def f(x):
    y = x
    del y
    return y
f(tf.constant(1))""",
    "Python's functions, decorated": """
@tf.py_function(Tout=tf.float32)
def f(x, y): return x + y
@tf.numpy_function(Tout=[tf.float32, tf.int32])
def g(x): return x * 2, np.int32(3)
@tf.function
def h(x): return f(x, x) * 2
return [f(1., 2.), list(g(np.float32(2))), h(tf.constant(1.)), h(tf.constant(2.))]""",
}

# What became graphs only lately: the constants that programs make in loops.
GRAPHS = {
    "lists of numbers": "tf.reduce_sum(tf.constant([1, 2]))",
    "nested lists": "tf.constant([[1, 2], [3, 4]])[1, i]",
    "arrays": "tf.constant(np.array([1, 2], np.int32))[i]",
    "arrays of another dtype": "tf.cast(tf.constant(np.array([1.5, 2.5]))[i], tf.int32)",
    "arrays in arithmetic": "tf.reduce_sum(i * np.arange(3, dtype=np.int32))",
    "arrays of nothing": "tf.size(tf.constant(np.zeros((0, 3))))",
    "numbers of arrays": "tf.constant(np.int32(3)) + np.int32(1)",
}


@each("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize("name", GRAPHS)
def test_constants(name, monkeypatch):
    refused = []
    monkeypatch.setattr(function._Graphs, "_give_up", lambda self, recording, reason: refused.append(reason))
    check(f"""
@tf.function
def f(n):
    s = tf.constant(0)
    for i in tf.range(n): s += {GRAPHS[name]}
    return s
return [f(tf.constant(v)) for v in (0, 1, 2)]""")
    assert not refused


def test_sizes_that_follow_are_none_in_texts():
    texts = []

    @tf.function(reduce_retracing=True)
    def f(x):
        texts.append(str(x.shape))
        return x * 2

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def g(x):
        return tf.zeros([2]) if str(x) == 'Tensor("x:0", shape=(None,), dtype=int32)' else tf.ones([2])
    assert f(tf.ones(3)).shape == (3,) and texts == ["(3,)"]
    assert not g(tf.ones([2], tf.int32)).numpy().any()
