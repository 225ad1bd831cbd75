"""Branches and loops within `tf.function`: traced once, right for every later call, beside genuine TensorFlow."""
import numpy
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as tf

POSITIVE = numpy.array([[1.0, 2.0, 3.0], [0.5, 0.1, 4.0]], "float32")
NEGATIVE = numpy.array([[-1.0, 2.0, -3.0], [0.5, -2.0, 0.25]], "float32")
LONG = numpy.linspace(-1, 1, 60, dtype="float32").reshape(20, 3)
PROGRAMS = {
    "cond": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x), lambda: x * 2.0),
    "cond of structures": lambda tf, x: tf.cond(
        tf.reduce_sum(x) > 0, lambda: {"a": tf.sin(x), "b": (x, 1.0)}, lambda: {"a": x, "b": (tf.exp(x), 2.0)}),
    "cond stops": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.stop_gradient(x) * x, lambda: x * x),
    "case": lambda tf, x: tf.case([(tf.reduce_sum(x) > 8, lambda: x * 2.0), (tf.reduce_sum(x) > 0, lambda: tf.exp(x))],
                                  default=lambda: tf.cos(x)),
    "switch_case": lambda tf, x: tf.switch_case(
        tf.cast(tf.reduce_sum(x) / 5.0, tf.int32), {0: lambda: x, 2: lambda: x * 2.0, 1: lambda: tf.sin(x)},
        default=lambda: tf.cos(x)),
    "while_loop": lambda tf, x: tf.while_loop(lambda i, y: tf.reduce_sum(y) < 50.0, lambda i, y: (i + 1, y * y + 1.0),
                                              (tf.constant(0), x)),
    "while_loop, at most": lambda tf, x: tf.while_loop(
        lambda y: tf.reduce_sum(y) < 5000.0, lambda y: [y * 1.5], [x], maximum_iterations=3),
    "while_loop, no gradient": lambda tf, x: tf.while_loop(
        lambda y: tf.reduce_sum(y) < 50.0, lambda y: [y * y + 1.0], [x], back_prop=False)[0] * x,
    "map_fn": lambda tf, x: tf.map_fn(lambda row: tf.sin(row) * tf.reduce_sum(row), tf.concat([x] * 10, 0)),
    "vectorized_map": lambda tf, x: tf.vectorized_map(lambda row: row * row[0], tf.concat([x] * 10, 0)),
    "scan": lambda tf, x: tf.scan(lambda a, row: a * 0.5 + tf.sin(row), tf.concat([x] * 10, 0)),
    "scan back": lambda tf, x: tf.scan(lambda a, row: a * 0.5 + tf.sin(row), tf.concat([x] * 10, 0), reverse=True),
    "scan from": lambda tf, x: tf.scan(lambda a, row: a * 0.5 + row, tf.concat([x] * 10, 0), initializer=tf.zeros([3])),
    "foldl": lambda tf, x: tf.foldl(lambda a, row: a * 0.5 + row, tf.concat([x] * 10, 0)),
    "foldr": lambda tf, x: tf.foldr(lambda a, row: a * 0.5 - row, tf.concat([x] * 10, 0), initializer=tf.ones([3])),
}


def by_tape(framework, function, numbers):
    """Return results and gradient, the tape around the function."""
    x = framework.Variable(numbers)
    with framework.GradientTape() as tape:
        made = function(x)
        floats = [y for y in framework.nest.flatten(made) if y.dtype == framework.float32]
        total = framework.add_n([framework.reduce_sum(y * y) for y in floats])
    grad = tape.gradient(total, x)
    return [numpy.asarray(y) for y in framework.nest.flatten(made)] + [
        numpy.zeros(numbers.shape) if grad is None else numpy.asarray(grad)]


@each("name", PROGRAMS)
def test_programs(name):
    program = PROGRAMS[name]
    mine = tf.function(lambda x: program(tf, tf.convert_to_tensor(x)))
    theirs = genuine.tf.function(lambda x: program(genuine.tf, genuine.tf.convert_to_tensor(x)))
    for numbers in (POSITIVE, NEGATIVE, POSITIVE * 0.5, NEGATIVE * 2):
        for one, other in zip(by_tape(tf, mine, numbers), by_tape(genuine.tf, theirs, numbers), strict=True):
            numpy.testing.assert_allclose(one, other, 2e-5, 1e-5)
    assert mine.fallback is None


@each("name", PROGRAMS)
def test_traced_once(name):
    program = PROGRAMS[name]
    mine = tf.function(lambda x: program(tf, x))
    for numbers in (POSITIVE, NEGATIVE, POSITIVE * 0.5):
        found = tf.nest.flatten(mine(tf.constant(numbers)))
        for one, other in zip(found, tf.nest.flatten(program(tf, tf.constant(numbers))), strict=True):
            numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), 1e-6)
    assert mine.experimental_get_tracing_count() == 1 and mine.fallback is None


def test_a_tape_within_the_function():
    def program(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * x * x, lambda: tf.sin(x))
        return tape.gradient(y, x)
    mine, theirs = tf.function(lambda x: program(tf, x)), genuine.tf.function(lambda x: program(genuine.tf, x))
    for numbers in (POSITIVE, NEGATIVE):
        numpy.testing.assert_allclose(mine(tf.constant(numbers)), theirs(genuine.tf.constant(numbers)), 1e-5)
    assert mine.fallback is None


def test_variables_are_read_in_branches_and_written_behind_them():
    def make(tf):
        v = tf.Variable(2.0)

        @tf.function
        def function(x):
            v.assign(tf.cond(x > 0, lambda: v + x, lambda: v * x))
            return v * 1.0
        return function
    mine, theirs = make(tf), make(genuine.tf)
    for number in (1.0, -2.0, 3.0, -1.0):
        assert float(mine(tf.constant(number))) == float(theirs(genuine.tf.constant(number)))
    assert mine.fallback is None


def test_arrays_written_in_branches_and_loops():
    def branch(tf, x):
        array = tf.TensorArray(tf.float32, size=1, clear_after_read=False)
        return tf.cond(tf.reduce_sum(x) > 0, lambda: array.write(0, x), lambda: array.write(0, x * 2.0)).stack()

    def loop(tf, x):
        array = tf.TensorArray(tf.float32, size=3, clear_after_read=False, element_shape=[2])
        return tf.while_loop(lambda i, a: tf.reduce_sum(x) > tf.cast(i, tf.float32),
                             lambda i, a: (i + 1, a.write(i, x + tf.cast(i, tf.float32))), (0, array))[1].stack()
    for program in (branch, loop):
        mine = tf.function(lambda x: program(tf, x))
        for numbers in ([1.0, 1.5], [-1.0, 0.5], [1.0, 1.5]):
            wanted = program(genuine.tf, genuine.tf.constant(numbers))
            numpy.testing.assert_array_equal(numpy.asarray(mine(tf.constant(numbers))), numpy.asarray(wanted))
        assert mine.fallback is None


def test_variables_written_in_branches():
    def make(tf):
        v, w = tf.Variable(2.0), tf.Variable(0.0)

        def one(x):
            w.assign(v * x)
            return v.assign_add(x) + w

        def other(x):
            return v.assign(v * x) * 2.0

        @tf.function
        def function(x):
            return tf.cond(x > 0, lambda: one(x), lambda: other(x)) + w * v
        return v, w, function
    mine, theirs = make(tf), make(genuine.tf)
    for number in (1.0, -1.0, 1.0, 3.0, -2.0):
        found, wanted = float(mine[2](tf.constant(number))), float(theirs[2](genuine.tf.constant(number)))
        assert (found, float(mine[0]), float(mine[1])) == (wanted, float(theirs[0]), float(theirs[1]))
    assert mine[2].fallback is None and mine[2].experimental_get_tracing_count() == 1


def test_operands_in_another_order_in_memory():
    def program(tf, x):
        x = tf.transpose(x)
        made = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
        return tf.while_loop(lambda i, y: tf.reduce_sum(y) < 50.0, lambda i, y: (i + 1, y * y + x * x + 1.0), (0, made))
    mine = tf.function(lambda x: program(tf, x))
    for numbers in (POSITIVE, NEGATIVE):
        wanted = program(genuine.tf, genuine.tf.constant(numbers))
        for one, other in zip(mine(tf.constant(numbers)), wanted, strict=True):
            numpy.testing.assert_allclose(one.numpy(), other.numpy(), 1e-5)
    assert mine.fallback is None
