"""What `tf.function` promises besides control flow: traces, variables, random numbers, beside genuine TensorFlow."""
import pytest
from harness.expressions import check
from harness.subresults import each

from dragon.vm import tensorflow as tf

PROGRAMS = {
    "draws with seeds of their own": """
tf.random.set_seed(1)
@tf.function
def f(): return tf.random.uniform((2,), seed=5), tf.random.normal((2,), seed=5)
@tf.function
def g(): return tf.random.uniform((2,), seed=5)
return [list(f()), list(f()), list(f()), g(), g(), tf.random.uniform((2,), seed=5)]""",
    "draws in loops": """
tf.random.set_seed(1)
@tf.function
def f(n):
    x = tf.zeros((2,))
    for i in tf.range(n): x += tf.random.uniform((2,), seed=5)
    return x
return [f(tf.constant(1)), f(tf.constant(3))]""",
    "stateless draws and generators": """
g = tf.random.Generator.from_seed(1)
@tf.function
def f(x): return tf.random.stateless_uniform((2,), seed=[1, 2]) + x, g.normal((2,))
return [list(f(1.)), list(f(1.))]""",
    "Python's functions": """
log = []
def h(x):
    log.append(float(x))
    return x * 2
@tf.function
def f(x): return tf.py_function(h, [x], tf.float32) + tf.numpy_function(lambda a: np.sin(a), [x], tf.float32)
return [f(tf.constant(1.)), f(tf.constant(2.)), len(log)]""",
    "counts of traces": """
@tf.function
def f(x): return x
f(1); f(2); f(1); f(tf.constant(1)); f(tf.constant(2)); f(tf.constant(1.)); f([tf.constant(1)]); f('a'); f(np.ones(2))
@tf.function(reduce_retracing=True)
def g(x): return x * 2
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def h(x): return x * 2
for n in (1, 2, 3, 4, 5):
    g(tf.ones([n]))
    h(tf.ones([n]))
return [k.experimental_get_tracing_count() for k in (f, g, h)]""",
    "variables made once": """
class A(tf.Module):
    def __init__(self): self.v = None
    @tf.function
    def __call__(self, x):
        if self.v is None: self.v = tf.Variable(x)
        return self.v * x
a = A()
return [a(tf.constant(2.)), a(tf.constant(3.)), a.__call__.experimental_get_tracing_count()]""",
    "writes in order": """
v = tf.Variable(1.)
@tf.function
def f(x):
    y = x * 100.
    v.assign(5.)
    z = v + x
    v.assign(7.)
    return z
return [f(tf.constant(1.)), v.numpy()]""",
    "tensors made at once, outside of the graph": """
box, names = [], {}
@tf.function
def f(a):
    if 'x' not in names:
        with tf.init_scope():
            names['x'] = tf.constant(3)
            box.append(tf.constant([1, 2]))
    return a + names['x']
return [f(tf.constant(1)), names['x'] + 1, f(tf.constant(2)), box[0] * 2]""",
    "looks at numbers": """
@tf.function
def f(a): return a * a.numpy()
f(tf.constant(1))""",
    "tensors as indices of lists": """
@tf.function
def f(a): return [1, 2, 3][a]
f(tf.constant(1))""",
    "branches of different kinds": """
@tf.function
def f(a): return tf.cond(a > 0, lambda: 1, lambda: 2.)
f(tf.constant(1))""",
    "loops whose variables become others": """
@tf.function
def f(a): return tf.while_loop(lambda i: i < 5, lambda i: [tf.cast(i, tf.float32)], [a])
f(tf.constant(1))""",
    "loops whose variables become several": """
@tf.function
def f(a): return tf.while_loop(lambda i: i < 5, lambda i: (i + 1, i), [a])
f(tf.constant(1))""",
    "a loop that changes the number of axes": """
@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def f(u):
    for _ in tf.range(3): u = tf.reduce_sum(u)
    return u
f(tf.constant([1, 2]))""",
    "a tensor that leaves a branch by a side effect": """
box = []
@tf.function
def f(x):
    if x > 0: box.append(x + 1)
    return x + box[0]
return f(tf.constant(1))""",
    "types of traces": """
class Kind(tf.types.experimental.TraceType):
    def __init__(self, fruit): self.fruit = fruit
    def is_subtype_of(self, other): return self == other
    def most_specific_common_supertype(self, others): return self if all(self == o for o in others) else None
    def placeholder_value(self, placeholder_context=None): return self.fruit
    def __eq__(self, other): return type(other) is Kind and type(self.fruit) is type(other.fruit)
    def __hash__(self): return hash(type(self.fruit))
class Fruit:
    def __tf_tracing_type__(self, context): return Kind(self)
class Apple(Fruit): k = 1
class Mango(Fruit): k = 2
@tf.function
def mix(a, b): return tf.constant(a.k * 10 + b.k)
found = [mix(Apple(), Apple()), mix(Apple(), Mango()), mix(Apple(), Apple()), mix(Apple(), Mango())]
return [found, mix.experimental_get_tracing_count()]""",
    "arguments": """
@tf.function
def f(*a, k=1, **m): return sum(a) * k + m.get('z', 0)
return [f(tf.constant(1), tf.constant(2)), f(tf.constant(1), k=3, z=tf.constant(5))]""",
    "positions that are known when the graph runs": """
@tf.function
def f(x, i): return x[i], x[i, 1:], x[..., i], x[-1, i], x[None, i], x[i, i]
x = tf.reshape(tf.range(9), (3, 3))
return [list(f(x, tf.constant(i))) for i in (0, 2, -1)]""",
}


LEAKS = {
    "numbers": "box.append(a + 1)\n||box[0].numpy()",
    "arithmetic": "box.append(a + 1)\n||box[0] + 1",
    "arithmetic from the other side": "box.append([a + 1])\n||tf.constant(1) - box[0][0]",
    "functions": "names['x'] = a * 2\n||tf.abs(names['x'])",
    "arguments": "names['x'] = a\n||tf.abs(names['x'])",
    "branches": "if a > 0: names['x'] = a * 2\n    else: names['x'] = a * 3\n||tf.abs(names['x'])",
    "attributes": "thing.new = a * 2\n||tf.abs(thing.new)",
    "other functions": "box.append(a)\n||tf.function(lambda b: b + box[0])(tf.constant(1))",
    "decisions": "box.append(a > 0)\n||bool(box[0])",
}


@each("name", LEAKS)
def test_tensors_that_leave_by_a_side_effect(name):
    inside, outside = LEAKS[name].split("||")
    check(f"""
class Thing: pass
box, names, thing = [], {{}}, Thing()
@tf.function
def f(a):
    {inside}    return a + 2
f(tf.constant(1))
return {outside}""")


def test_a_tensor_that_has_left_says_which_it_is():
    box = []

    @tf.function
    def leaky(a):
        box.append(a)
        box.append(a + 1.0)
        return a
    leaky(tf.ones(2))
    assert repr(box[0]) == "<tf.Tensor 'a:0' shape=(2,) dtype=float32>" and box[1].shape == (2,)
    with pytest.raises(TypeError, match="'a:0'.*out of scope.*'leaky'"):
        box[0] + 1


@each("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name])


def test_draws_without_a_seed_are_other_ones_at_each_run():
    @tf.function
    def f():
        return tf.random.uniform((4,))
    found = [f().numpy().tolist() for _ in range(4)]
    assert f.fallback is None and len(set(map(tuple, found))) == 4


def test_names_of_trace_types():
    types = tf.types.experimental
    assert issubclass(tf.TensorSpec, types.TraceType)
    assert not isinstance(3, types.SupportsTracingProtocol)
