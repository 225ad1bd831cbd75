"""Functions of keras.ops that call functions, within `tf.function`: one graph, right for every later call."""
import numpy

from dragon.vm import tensorflow as tf
from dragon.vm.keras import ops
from harness import genuine
from harness.subresults import each

POSITIVE = numpy.array([[1.0, 2.0, 3.0], [0.5, 0.1, 4.0]], "float32")
NEGATIVE = numpy.array([[-1.0, 2.0, -3.0], [0.5, -2.0, 0.25]], "float32")
PROGRAMS = {
    "cond": lambda o, x: o.cond(o.sum(x) > 0, lambda: o.sin(x), lambda: x * 2),
    "switch": lambda o, x: o.switch(o.cast(o.sum(x), "int32"), [lambda x: x, lambda x: o.sin(x), lambda x: x * 3], x),
    "while_loop": lambda o, x: o.while_loop(lambda i, y: o.sum(y) < 50, lambda i, y: (i + 1, y * y + 1), (0, x)),
    "while_loop once": lambda o, x: o.while_loop(lambda y: o.sum(y) < 5000, lambda y: y * 1.5, x, maximum_iterations=2),
    "fori_loop": lambda o, x: o.fori_loop(0, 20, lambda i, y: y * 0.5 + o.cast(i, "float32"), x),
    "fori_loop to a tensor": lambda o, x: o.fori_loop(0, o.cast(o.max(x), "int32"), lambda i, y: y * 0.5 + 1, x),
    "map": lambda o, x: o.map(lambda row: o.sin(row) * o.sum(row), o.concatenate([x] * 10)),
    "vectorized_map": lambda o, x: o.vectorized_map(lambda row: row * row[0], o.concatenate([x] * 10)),
    "scan": lambda o, x: o.scan(lambda c, row: (c * 0.5 + row, c * row), o.zeros(3), o.concatenate([x] * 10)),
    "scan of nothing": lambda o, x: o.scan(lambda c, row: (c * 0.5 + 1, c), x, length=20),
}


@each("name", PROGRAMS)
def test_programs(name):
    program = PROGRAMS[name]
    mine = tf.function(lambda x: program(ops, x))
    for numbers in (POSITIVE, NEGATIVE, POSITIVE * 2):
        found = tf.nest.flatten(mine(tf.constant(numbers)))
        wanted = genuine.tf.nest.flatten(program(genuine.keras.ops, genuine.tf.constant(numbers)))
        for one, other in zip(found, wanted, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), 1e-5, 1e-6)
    assert mine.experimental_get_tracing_count() == 1 and mine.fallback is None
