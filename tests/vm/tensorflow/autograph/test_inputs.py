"""What a `tf.function` may do to its arguments and to what it makes at its first call, beside genuine TensorFlow."""
import pytest
from harness.expressions import check
from harness.subresults import each

import dragon.vm.tensorflow as tf

PROGRAMS = {
    "a list grows": """
@tf.function
def f(x, l): l.append(x); return x
return f(tf.constant(1), [])""",
    "the caller's own list": """
kept=[]
@tf.function
def f(x, l): l.append(x); return x
try: f(tf.constant(1), kept)
except ValueError: return kept""",
    "a dictionary by name": """
@tf.function
def f(x, *, d): d['y'] = x; return x
return f(tf.constant(1), d={'x': 1})""",
    "what is within": """
@tf.function
def f(d): d['a'].append(1); return tf.constant(1)
return f({'a': [1]})""",
    "an entry becomes another": """
@tf.function
def f(l): l[0] = l[0] + 1; return l
return f([tf.constant(1), tf.constant(2)])""",
    "an entry leaves": """
@tf.function
def f(l): return l.pop()
return f([tf.constant(1), tf.constant(2)])""",
    "a default": """
@tf.function
def f(x, l=[]): l.append(1); return x
return f(tf.constant(1))""",
    "another order": """
@tf.function
def f(l): l.sort(); return tf.constant(l)
return f([3, 1, 2])""",
    "a concrete function": """
@tf.function
def f(x, l): l.append(x); return x
return f.get_concrete_function(tf.TensorSpec([], tf.int32), [])""",
    "a method": """
class C:
    @tf.function
    def f(self, l): l.append(1); return tf.constant(1)
return C().f([])""",
    "a copy": """
@tf.function
def f(l): l = list(l); l.append(tf.constant(3)); return l
return f([tf.constant(1)])""",
    "the same entries again": """
@tf.function
def f(l): l[0], l[1] = l[0], l[1]; return l
return f([tf.constant(1), 2])""",
    "an object": """
class O: pass
o = O()
@tf.function
def f(o, x): o.n = 3; return x
return f(o, tf.constant(1)), o.n""",
    "a default that is only read": """
@tf.function
def f(x, l=[1, 2]): return x + l[1]
return f(tf.constant(1)), f(tf.constant(2))""",
    "a set": """
@tf.function
def f(x, s): return x
return f(tf.constant(1), {1, 2})""",
    "an array of bytes": """
@tf.function
def f(x, s): return x
return f(tf.constant(1), bytearray(b'ab'))""",
    "an object that is equal to others": """
class P:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
@tf.function
def f(x, p): return x * p.n
return f(tf.constant(1), P(2))""",
    "sets that stay": """
@tf.function
def f(x, s): return x + len(s)
return f(tf.constant(1), frozenset([1, 2])), f(tf.constant(1), frozenset([1]))""",
    "another optimizer": """
one, other = tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam(0.1)
w = tf.Variable(2.)
@tf.function
def f(o): o.apply_gradients([(tf.constant(1.), w)])
f(one)
f(other)""",
    "another optimizer without states": """
one, other = tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.SGD(0.1)
w = tf.Variable(2.)
@tf.function
def f(o): o.apply_gradients([(tf.constant(1.), w)])
f(one)
f(other)
return w""",
}


@each("name", PROGRAMS)
def test_beside_tensorflow(name):
    check(PROGRAMS[name])


def test_the_letter():
    @tf.function
    def f(x, items, *, table=None):
        items.append(x)
        return x
    with pytest.raises(ValueError, match=r"f\(x, items, \*, table=None\) should not modify its Python input arguments. "
                                         r"Modifying a copy is allowed. .* modified: items$"):
        f(tf.constant(1), [])


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_a_step_that_makes_states_becomes_a_graph(name):
    """What a first call leaves in objects is told without looking at its numbers."""
    optimizer, weight = getattr(tf.keras.optimizers, name)(0.1), tf.Variable(2.0)

    @tf.function
    def step(gradient):
        optimizer.apply_gradients([(gradient, weight)])
    step(tf.constant(1.0))
    step(tf.constant(1.0))
    assert step.fallback is None
